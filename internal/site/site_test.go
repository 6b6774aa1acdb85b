package site_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

func TestExampleIsValid(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("example.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Inventory.Nodes) != 4 || s.Facility.Power.Provided.String() != "60 kW" {
		t.Errorf("example decoded to %d nodes, power %s", len(s.Inventory.Nodes), s.Facility.Power.Provided)
	}
}

// Every mistake is made in the example by replacing one line; the message must
// name that line and say what to do.
func TestMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, new, want string }{
		{"unknown key", "spine: kubernetes", "spine: kubernetes\nspline: x", `unknown key "spline"`},
		{"unknown spine", "spine: kubernetes", "spine: nomad", "not one of kubernetes, k3s"},
		{"unknown profile", "profile: h100-sxm-ndr400", "profile: h900", "unknown profile"},
		{"wrong unit", "power: {provided: 60 kW", "power: {provided: 60 kg", "wrong unit"},
		{"no unit", "power: {provided: 60 kW", "power: {provided: 60", "number and a unit"},
		{"reserve", "cooling: {provided: 60 kW, reserve: 0.1}", "cooling: {provided: 60 kW, reserve: 10}", "invalid fraction"},
		{"bad date", "at: 2026-11-01", "at: 01.11.2026", "invalid date"},
		{"expiry before signature", "expires: 2027-11-01", "expires: 2025-11-01", "not after the signature"},
		{"duplicate node", "name: gpu-02, address: \"gpu-02.example.com:22\"", "name: gpu-01, address: \"x:22\"", "duplicate node"},
		{"address without port", "gpu-03.example.com:22", "gpu-03.example.com", "not host:port"},
		{"secret in a URL", "https://pdu-controller.example.com", "https://u:p@pdu-controller.example.com", "carries no secrets"},
		{"impossible links", "links: 64", "links: 12", "impossible"},
		{"too few HCAs", "hcas: [mlx5_0, ", "hcas: [", "lists 7 devices"},
		{"no soak", "soak: 10m", "soak: 0s", "is missing"},
		{"duration without unit", "scrapeInterval: 15s", "scrapeInterval: 15", "invalid duration"},
		{"negative duration", "scrapeInterval: 15s", "scrapeInterval: -15s", "negative"},
		{"no resource", "networkResource: rdma/ib", "networkResource: ib", "invalid extended resource"},
		{"unknown gang scheduler", "gangScheduler: auto", "gangScheduler: magic", "not one of"},
		{"unknown kind of job", "gangScheduler: auto", "jobKind: podgroup\n  gangScheduler: auto", "not one of"},
		{"a kind that native gangs lack", "gangScheduler: auto", "jobKind: mpijob\n  gangScheduler: native", "drop the field"},
		{"Volcano's kind with another scheduler", "gangScheduler: auto", "jobKind: vcjob\n  gangScheduler: kueue", "needs gangScheduler volcano"},
		{"an unknown DRA driver", "gangScheduler: auto", "draDriver: absent\n  gangScheduler: auto", "unknown value"},
		{"a class without a driver", "gangScheduler: auto", "draDriver: none\n  deviceClass: gpu.nvidia.com\n  gangScheduler: auto", "contradicts deviceClass"},
		{"an image of every device plugin", "gangScheduler: auto", "otherDevicePlugins: ['*']\n  gangScheduler: auto", "end of an image's repository"},
		{"a relative directory for checkpoints", "directory: /mnt/checkpoints", "directory: checkpoints", "absolute path"},
		{"the root of the hosts for checkpoints", "directory: /mnt/checkpoints", "directory: /", "absolute path"},
		{"a directory that leads elsewhere", "directory: /mnt/checkpoints", "directory: /mnt/../etc", "absolute path"},
		{"checkpoints without a size", "sizeGiB: 16", "sizeGiB: 0", "workloads.training.checkpoint.sizeGiB"},
		{"too many training nodes", "nodes: 4 ", "nodes: 9 ", "impossible"},
		{"too few steps", "steps: 60", "steps: 5", "too few"},
		{"text for a number", "gpus: 1", "gpus: many", "not a whole number"},
		{"too many GPUs", "gpus: 1", "gpus: 9", "a node has 8"},
		{"context too short", "maxModelLen: 8192", "maxModelLen: 100", "less than inputTokens"},
		{"no login at a time", "concurrency: 16", "concurrency: -1", "-1 must be at least 1"},
		{"too few at a time", "concurrency: 32 ", "concurrency: 1 ", "1 is too few: at 10 requests a second"},
		{"two ways to Prometheus", "service: monitoring/prometheus-k8s:9090", "service: a/b:1\n    url: http://x", "keep one"},
		{"fabric host unknown", "fabricHost: gpu-01", "fabricHost: gpu-77", "not among inventory.nodes"},
		{"unknown gate", "# notApplicable:\n#   inference:", "notApplicable:\n  inferencing:", "not one of facility"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := string(site.Example())
			at := strings.Index(before, tt.old)
			if at < 0 {
				t.Fatalf("the example has no %q", tt.old)
			}
			_, err := site.Parse("s.yaml", []byte(strings.Replace(before, tt.old, tt.new, 1)))
			invalid, ok := errors.AsType[*site.InvalidError](err)
			if !ok {
				t.Fatalf("got %v, want an InvalidError", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("message lacks %q:\n%v", tt.want, err)
			}
			line := 1 + strings.Count(before[:at], "\n")
			near := false
			for _, p := range invalid.Problems {
				near = near || (p.Line >= line-1 && p.Line <= line+1+strings.Count(tt.new, "\n"))
			}
			if !near {
				t.Errorf("no problem near line %d:\n%v", line, err)
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	bad := strings.NewReplacer("spine: kubernetes", "spine: nomad", "links: 64", "links: 1", "gpus: 1", "gpus: x", "telemetry:", "telemetri:").Replace(string(site.Example()))
	_, err := site.Parse("s.yaml", []byte(bad))
	for _, want := range []string{"nomad", "impossible", "whole number", "telemetri"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("lacks %q:\n%v", want, err)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	tests := map[string][]byte{
		"empty":       nil,
		"only spaces": []byte("\n\n"),
		"not UTF-8":   {0xff, 0xfe, 'a', 0},
		"no YAML":     []byte("\tname: x: y"),
		"a list":      []byte("- a\n- b\n"),
		"two docs":    append(append(site.Example(), []byte("\n---\n")...), site.Example()...),
		"huge":        []byte(strings.Repeat("# padding\n", 1<<20)),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := site.Parse("s.yaml", data); err == nil {
				t.Error("parsed")
			}
		})
	}
}

func TestLoadResolvesPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	if err := os.WriteFile(file, site.Example(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := site.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "secrets/id_ed25519"); s.Reach.SSH.IdentityFile != want {
		t.Errorf("identityFile %s, want %s", s.Reach.SSH.IdentityFile, want)
	}
	if _, err := site.Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(site.Example())
	f.Add([]byte("apiVersion: firstlight/v1\nkind: Site\ninventory: {nodes: [{name: a}]}\n"))
	f.Add([]byte("fabric: *a"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := site.Parse("fuzz.yaml", data)
		if err == nil && len(s.Inventory.Nodes) == 0 {
			t.Error("a site without nodes passed")
		}
		if err != nil && fmt.Sprint(err) == "" {
			t.Error("empty message")
		}
	})
}
