package site_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/site"
)

func TestTwoRedfishEntriesOfOneNameAreRefusedWithBothPaths(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	const name = "- name: row-a"
	if strings.Count(example, name) != 1 {
		t.Fatalf("the example has no %q", name)
	}
	for title, tt := range map[string]struct {
		entry string
		want  []string
	}{
		"one name twice":    {"- {name: row-a, url: https://b.example.com, pdus: [x]}\n    " + name, []string{"facility.redfish.1.name", `duplicate value "row-a" (also at facility.redfish.0.name)`}},
		"one PDU twice":     {"- {name: b, url: https://b.example.com, pdus: [x, y, x]}\n    " + name, []string{"facility.redfish.0.pdus.2", `duplicate value "x" (also at facility.redfish.0.pdus.0)`}},
		"one chassis twice": {"- {name: b, url: https://b.example.com, chassis: [x, x]}\n    " + name, []string{"facility.redfish.0.chassis.1", `duplicate value "x" (also at facility.redfish.0.chassis.0)`}},
	} {
		_, err := site.Parse("s.yaml", []byte(strings.Replace(example, name, tt.entry, 1)))
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not contain %q", title, err, want)
			}
		}
	}
}

func TestHealthWithin(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	const line = "  healthWithin: 2m"
	if !strings.Contains(example, line) {
		t.Fatalf("the example has no %q", line)
	}
	for text, want := range map[string]time.Duration{
		line:                         site.DefaultHealthWithin,
		"  healthWithin: 7m":         7 * time.Minute,
		"  {}":                       site.DefaultHealthWithin,
		"  # healthWithin: left out": site.DefaultHealthWithin,
	} {
		s, err := site.Parse("s.yaml", []byte(strings.Replace(example, line, text, 1)))
		if err != nil || s.HealthWithin() != want {
			t.Errorf("%q: %v", text, err)
			continue
		}
	}
	if _, err := site.Parse("s.yaml", []byte(strings.Replace(example, line, "  healthWithin: -2m", 1))); err == nil {
		t.Error("a negative time is taken")
	}
}

// The second run is a key of a playbook's block; it is refused where it would have no effect.
func TestIdempotent(t *testing.T) {
	t.Parallel()
	with := func(prepare string) (*site.Site, error) {
		return site.Parse("s.yaml", append(site.Example(), []byte("\nprepare: [{gate: node, "+prepare+"}]\n")...))
	}
	for text, once := range map[string]bool{
		"playbook: p.yaml": false, "ansible: {playbook: p.yaml}": false, "ansible: {playbook: p.yaml, idempotent: true}": false, "ansible: {playbook: p.yaml, idempotent: false}": true,
	} {
		s, err := with(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := s.Prepare[0].Rollout().Once(); got != once {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{
		"playbook: p.yaml, idempotent: false", "command: [a], idempotent: false", "helm: {release: r, chart: oci://a/b, version: v1, namespace: n, idempotent: false}",
	} {
		if _, err := with(text); err == nil || !strings.Contains(err.Error(), `unknown key "idempotent"`) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := with("ansible: {playbook: p.yaml, idempotent: never}"); err == nil {
		t.Error("never is not a boolean")
	}
}
