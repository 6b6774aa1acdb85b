// Package hooks_test runs the example hooks against programs that play the clouds'.
package hooks_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

const (
	name  = "fl-day-ah1-x"
	token = int64(1_800_000_000_000)
)

type fence struct{}

func (fence) Check(context.Context, string, int64) error { return nil }

type clock struct{ paused int }

func (*clock) Now() time.Time { return time.Now() }

func (c *clock) Sleep(ctx context.Context, _ time.Duration) error {
	c.paused++
	return context.Cause(ctx)
}

// certificate is one as clusters have.
func certificate(t *testing.T) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// bench is a hook, and the directory that its cloud is played from.
type bench struct {
	*hook.Client
	*clock
	row  config.Reservation
	stub string
}

func newBench(t *testing.T, program string, cloud config.Cloud, without ...string) *bench {
	t.Helper()
	for _, needed := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("the examples need %s", needed)
		}
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	stub := t.TempDir()
	if err := os.WriteFile(filepath.Join(stub, "ca.pem"), certificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{
		"PATH": filepath.Join(here, "testdata", "bin") + ":" + os.Getenv("PATH"), "HOME": stub, "TMPDIR": stub, "STUB": stub,
		"FIRSTLIGHT_VERSIONS": filepath.Join(stub, "versions"), "FIRSTLIGHT_EVIDENCE": filepath.Join(stub, "evidence"),
		"AWS_REGION": "us-east-1", "FIRSTLIGHT_TOKENS_TABLE": "tokens",
		"CLOUDSDK_CORE_PROJECT": "example", "FIRSTLIGHT_LOCATION": "us-central1-a", "FIRSTLIGHT_TOKENS_BUCKET": "gs://tokens",
	}
	for _, name := range without {
		delete(given, name)
	}
	h := hook.Hook{Cloud: cloud, Command: []string{filepath.Join(here, program)}, Limits: hook.DefaultLimits()}
	for n := range given {
		h.Environment = append(h.Environment, n)
	}
	c := &clock{}
	b := &bench{
		clock: c, stub: stub,
		row: config.Reservation{
			Name: "some-h100", Slug: "ah1", Cloud: cloud, ReservationID: "cr-1", Accelerator: "h100", GPUCount: 8, NodeCount: 2,
			ClusterConfigPath: filepath.Join(here, "testdata", "clusters", program+".yaml"), TestConfigDir: "tests/some",
		},
	}
	b.Client = hook.New(hook.Options{
		Config: &hook.Config{Owner: "team-a", Hooks: map[config.Cloud]hook.Hook{cloud: h}}, Fence: fence{}, Clock: c,
		Runner: func(h hook.Hook) (hook.Runner, error) {
			return &hook.Program{Hook: h, Lookup: func(n string) (string, bool) { v, ok := given[n]; return v, ok }}, nil
		},
	})
	return b
}

func (b *bench) touch(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.stub, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// calls are how often the cloud's programs were called with a text.
func (b *bench) calls(t *testing.T, with string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.stub, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(raw), with)
}

func TestExamples(t *testing.T) {
	for _, tt := range []struct {
		program, create, destroy, look, exec string
		cloud                                config.Cloud
	}{
		{"eks", "eksctl create cluster", "eksctl delete cluster", "describe-cluster", "aws", config.AWS},
		{"gke", "clusters create", "clusters delete", "clusters list", "gke-gcloud-auth-plugin", config.GCP},
	} {
		t.Run(tt.program, func(t *testing.T) {
			b := newBench(t, tt.program, tt.cloud)
			ctx := t.Context()
			lease := hook.Lease{Token: token, Holder: "rotation"}

			b.touch(t, "throttled", "")
			d, err := b.Provision(ctx, b.row, config.Training, name, lease)
			if err != nil {
				t.Fatal(err)
			}
			if d.Access.Exec.Command != tt.exec || !strings.HasPrefix(d.Access.CA, "-----BEGIN CERTIFICATE") || b.paused != 1 {
				t.Errorf("after %d pauses: %+v", b.paused, d)
			}
			again, err := b.Provision(ctx, b.row, config.Training, name, lease)
			if err != nil || !again.Created.Equal(d.Created) || b.calls(t, tt.create) != 1 {
				t.Errorf("the same again: %v, %d were created", err, b.calls(t, tt.create))
			}
			later := hook.Lease{Token: token + 1}
			if _, err := b.Provision(ctx, b.row, config.Training, name, later); err == nil || !strings.Contains(err.Error(), "another token: tear it down first") {
				t.Errorf("under another token: %v", err)
			}
			if err := b.Teardown(ctx, b.row, name, lease); err == nil || !strings.Contains(err.Error(), "is stale") || b.calls(t, tt.destroy) > 0 {
				t.Errorf("a token that is stale: %v", err)
			}

			nodes, err := b.GetNodes(ctx, b.row, name, later)
			if want := (hook.Node{Name: "gpu-2", UID: "u2", Cordoned: true}); err != nil || len(nodes) != 2 || nodes[1] != want || !nodes[0].Ready || nodes[0].GPUs != 8 {
				t.Errorf("nodes: %v %+v", err, nodes)
			}
			all, err := b.Discover(ctx, tt.cloud, nil, hook.Lease{})
			if err != nil || len(all) != 1 || all[0].Name != name || all[0].Owner != "team-a" || all[0].Token != token || !all[0].Created.Equal(d.Created) {
				t.Errorf("discover: %v %+v", err, all)
			}

			b.paused = 0
			b.touch(t, "throttled", tt.look)
			its, err := b.Discover(ctx, tt.cloud, &b.row, later)
			if err != nil || len(its) != 1 || its[0].Access == nil || its[0].Access.Exec.Command != tt.exec || b.paused != 1 {
				t.Errorf("discover of the reservation: %v %+v after %d pauses", err, its, b.paused)
			}

			other := b.row
			other.Name = "other-h100"
			if err := b.Teardown(ctx, other, name, later); err == nil || !strings.Contains(err.Error(), "it is not changed") || b.calls(t, tt.destroy) > 0 {
				t.Errorf("another reservation's: %v", err)
			}
			b.paused = 0
			b.touch(t, "sticks", "")
			if err := b.Teardown(ctx, b.row, name, later); err != nil || b.paused != 1 || b.calls(t, tt.destroy) != 2 {
				t.Errorf("after %d pauses: %v", b.paused, err)
			}
			if err := b.Teardown(ctx, b.row, name, later); err != nil || b.calls(t, tt.destroy) != 2 {
				t.Errorf("teardown of a missing cluster: %v", err)
			}
			all, err = b.Discover(ctx, tt.cloud, &b.row, later)
			if err != nil || len(all) != 0 {
				t.Errorf("discover: %v %+v", err, all)
			}
		})
	}
}

// version makes the program of one.
func (b *bench) version(t *testing.T, version string) {
	t.Helper()
	player, err := filepath.Abs(filepath.Join("testdata", "bin", "firstlight"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.stub, "versions", version)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(player, filepath.Join(dir, "firstlight")); err != nil {
		t.Fatal(err)
	}
}

// reports as validate writes them: a step that passed and two that may not have.
func report(verdict, health, gang string) string {
	return `{"run":"r","verdict":"` + verdict + `","steps":[
		{"name":"snapshot","verdict":"passed","reason":"","checks":[{"gate":"snapshot","verdict":"passed","reason":""}]},
		{"name":"health","verdict":"` + health + `","reason":"a component","checks":[{"gate":"operator","verdict":"` + health + `","reason":"1 of 2 pods\n are ready"}]},
		{"name":"gang","verdict":"` + gang + `","reason":"health is not passed","checks":[]}]}`
}

func TestTest(t *testing.T) {
	for program, cloud := range map[string]config.Cloud{"eks": config.AWS, "gke": config.GCP} {
		t.Run(program, func(t *testing.T) {
			b := newBench(t, program, cloud)
			ctx := t.Context()
			lease := hook.Lease{Token: token, Holder: "batch"}
			test := func(version string, l hook.Lease) (hook.Result, error) {
				return b.Test(ctx, b.row, version, config.Training, name, l)
			}
			if _, err := test("v1.2.0", lease); err == nil || !strings.Contains(err.Error(), "cluster "+name+" not found") {
				t.Errorf("test of a missing cluster: %v", err)
			}
			if _, err := b.Provision(ctx, b.row, config.Training, name, lease); err != nil {
				t.Fatal(err)
			}
			b.version(t, "v1.2.0")

			for _, tt := range []struct {
				name, report, status string
				want                 hook.Result // without its evidence
				err                  string
			}{
				{"passed", report("passed", "passed", "passed"), "0", hook.Result{Verdict: hook.Passed, Checks: 2}, ""},
				{"a step that is not applicable does not fail", report("passed", "not-applicable", "passed"), "0", hook.Result{Verdict: hook.Passed, Checks: 1}, ""},
				{"failed", report("failed", "failed", "blocked"), "1", hook.Result{
					Verdict: hook.Failed, Checks: 2, Reason: "health/operator failed: 1 of 2 pods\n are ready; gang blocked: health is not passed",
				}, ""},
				{"unobserved", report("unobserved", "unobserved", "passed"), "3", hook.Result{
					Verdict: hook.Unobserved, Checks: 1, Reason: "unobserved, exit status 3: health/operator unobserved: 1 of 2 pods\n are ready",
				}, ""},
				{"a status that says otherwise", report("passed", "passed", "passed"), "1", hook.Result{
					Verdict: hook.Unobserved, Checks: 2, Reason: "passed, exit status 1:",
				}, ""},
				{"a pass of nothing", `{"verdict":"passed","steps":[]}`, "0", hook.Result{Verdict: hook.Unobserved, Reason: "it passed, and no check has seen anything"}, ""},
				{"no report", "", "3", hook.Result{Verdict: hook.Unobserved, Reason: "validating " + name + " ended with exit status 3 and without a report"}, ""},
				{"a long reason", strings.Replace(report("failed", "failed", "passed"), "1 of 2", strings.Repeat("x", 3000), 1), "1", hook.Result{
					Verdict: hook.Failed, Checks: 2, Reason: "health/operator failed: " + strings.Repeat("x", 476) + " (cut)",
				}, ""},
				{"bad input", "", "2", hook.Result{}, "ended with exit status 2"},
				{"interrupted", "", "130", hook.Result{}, "ended with exit status 130"},
			} {
				b.touch(t, "report.json", tt.report)
				b.touch(t, "status", tt.status)
				got, err := test("v1.2.0", lease)
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%s: got %v, want %q", tt.name, err, tt.err)
					continue
				}
				if err != nil {
					continue
				}
				if !strings.HasPrefix(got.Evidence, filepath.Join(b.stub, "evidence", name+"-v1.2.0-training.")) {
					t.Errorf("%s: the evidence is at %s", tt.name, got.Evidence)
				}
				got.Evidence, got.Reason = "", strings.TrimSpace(got.Reason)
				if got != tt.want {
					t.Errorf("%s: got %+v", tt.name, got)
				}
			}
			if want := "--site tests/some/training.site.yaml --recipe tests/some/training.recipe.yaml"; b.calls(t, want) != 10 {
				t.Errorf("called %d times with %s", b.calls(t, want), want)
			}

			got, err := test("v1.1.0", lease)
			if err != nil || got.Verdict != hook.Unobserved || !strings.Contains(got.Reason, "no firstlight program for version v1.1.0") {
				t.Errorf("a missing version: %+v, %v", got, err)
			}
			other := b.row
			other.Name = "other-h100"
			if _, err := b.Test(ctx, other, "v1.2.0", config.Training, name, lease); err == nil || !strings.Contains(err.Error(), "it is not changed") {
				t.Errorf("another reservation's: %v", err)
			}
			if _, err := test("v1.2.0", hook.Lease{Token: token - 1}); err == nil || !strings.Contains(err.Error(), "is stale") {
				t.Errorf("a token that is stale: %v", err)
			}
			if left, err := filepath.Glob(filepath.Join(b.stub, "tmp.*")); err != nil || len(left) > 0 {
				t.Errorf("kubeconfigs are left: %v, %v", left, err)
			}
		})
	}
}

// Without programs of versions there is the one on PATH, and it is main's.
func TestTestOfMainAlone(t *testing.T) {
	b := newBench(t, "eks", config.AWS, "FIRSTLIGHT_VERSIONS")
	lease := hook.Lease{Token: token, Holder: "batch"}
	if _, err := b.Provision(t.Context(), b.row, config.Training, name, lease); err != nil {
		t.Fatal(err)
	}
	b.touch(t, "report.json", report("passed", "passed", "passed"))
	b.touch(t, "status", "0")
	for version, want := range map[string]hook.Verdict{"main": hook.Passed, "v1.2.0": hook.Unobserved} {
		if got, err := b.Test(t.Context(), b.row, version, config.Training, name, lease); err != nil || got.Verdict != want {
			t.Errorf("%s: %+v, %v", version, got, err)
		}
	}
	if b.calls(t, "firstlight validate") != 1 {
		t.Errorf("validate was called %d times", b.calls(t, "firstlight validate"))
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	for _, program := range []string{"eks", "gke"} {
		cmd := exec.CommandContext(t.Context(), "./"+program)
		cmd.Stdin = strings.NewReader("{}")
		cmd.Env = append(os.Environ(), "AWS_REGION=x", "FIRSTLIGHT_LOCATION=x", "CLOUDSDK_CORE_PROJECT=x")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "the request is not of") {
			t.Errorf("%s: %v, %s", program, err, out)
		}
	}
}
