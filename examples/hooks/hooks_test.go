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

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/registry"
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
	row  registry.Reservation
	stub string
}

func newBench(t *testing.T, program string, cloud registry.Cloud) *bench {
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
		"AWS_REGION": "us-east-1", "FIRSTLIGHT_TOKENS_TABLE": "tokens",
		"CLOUDSDK_CORE_PROJECT": "example", "FIRSTLIGHT_LOCATION": "us-central1-a", "FIRSTLIGHT_TOKENS_BUCKET": "gs://tokens",
	}
	h := hook.Hook{Cloud: cloud, Command: []string{filepath.Join(here, program)}, Limits: hook.DefaultLimits()}
	for n := range given {
		h.Environment = append(h.Environment, n)
	}
	c := &clock{}
	b := &bench{
		clock: c, stub: stub,
		row: registry.Reservation{
			Name: "some-h100", Slug: "ah1", Cloud: cloud, ReservationID: "cr-1", Accelerator: "h100", GPUCount: 8, NodeCount: 2,
			ClusterConfigPath: filepath.Join(here, "testdata", "clusters", program+".yaml"),
		},
	}
	b.Client = hook.New(hook.Options{
		Config: &hook.Config{Owner: "team-a", Hooks: map[registry.Cloud]hook.Hook{cloud: h}}, Fence: fence{}, Clock: c,
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
		cloud                                registry.Cloud
	}{
		{"eks", "eksctl create cluster", "eksctl delete cluster", "describe-cluster", "aws", registry.AWS},
		{"gke", "clusters create", "clusters delete", "clusters list", "gke-gcloud-auth-plugin", registry.GCP},
	} {
		t.Run(tt.program, func(t *testing.T) {
			b := newBench(t, tt.program, tt.cloud)
			ctx := t.Context()
			lease := hook.Lease{Token: token, Holder: "rotation"}

			b.touch(t, "throttled", "")
			d, err := b.Provision(ctx, b.row, registry.Training, name, lease)
			if err != nil {
				t.Fatal(err)
			}
			if d.Access.Exec.Command != tt.exec || !strings.HasPrefix(d.Access.CA, "-----BEGIN CERTIFICATE") || b.paused != 1 {
				t.Errorf("after %d pauses: %+v", b.paused, d)
			}
			again, err := b.Provision(ctx, b.row, registry.Training, name, lease)
			if err != nil || !again.Created.Equal(d.Created) || b.calls(t, tt.create) != 1 {
				t.Errorf("the same again: %v, %d were created", err, b.calls(t, tt.create))
			}
			later := hook.Lease{Token: token + 1}
			if _, err := b.Provision(ctx, b.row, registry.Training, name, later); err == nil || !strings.Contains(err.Error(), "another token: tear it down first") {
				t.Errorf("under another token: %v", err)
			}
			if err := b.Teardown(ctx, b.row, name, lease); err == nil || !strings.Contains(err.Error(), "is stale") || b.calls(t, tt.destroy) > 0 {
				t.Errorf("a token that is stale: %v", err)
			}

			nodes, err := b.Census(ctx, b.row, name, later)
			if want := (hook.Node{Name: "gpu-2", UID: "u2", Cordoned: true}); err != nil || len(nodes) != 2 || nodes[1] != want || !nodes[0].Ready || nodes[0].GPUs != 8 {
				t.Errorf("census: %v %+v", err, nodes)
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
			if err := b.Teardown(ctx, other, name, later); err == nil || !strings.Contains(err.Error(), "it is left alone") || b.calls(t, tt.destroy) > 0 {
				t.Errorf("another reservation's: %v", err)
			}
			b.paused = 0
			b.touch(t, "sticks", "")
			if err := b.Teardown(ctx, b.row, name, later); err != nil || b.paused != 1 || b.calls(t, tt.destroy) != 2 {
				t.Errorf("after %d pauses: %v", b.paused, err)
			}
			if err := b.Teardown(ctx, b.row, name, later); err != nil || b.calls(t, tt.destroy) != 2 {
				t.Errorf("what is gone: %v", err)
			}
			all, err = b.Discover(ctx, tt.cloud, &b.row, later)
			if err != nil || len(all) != 0 {
				t.Errorf("discover: %v %+v", err, all)
			}
		})
	}
}

func TestARequestThatIsNone(t *testing.T) {
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
