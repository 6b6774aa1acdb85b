package node_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// The diagnostic is the only command that ends with its session: see ssh.WithLoad.
func TestDiagnosticIsALoad(t *testing.T) {
	t.Parallel()
	answers := outputs(t)
	g := node.New(testSite(1), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(ctx context.Context, _, line string) (ssh.Output, error) {
		if want := strings.HasPrefix(line, "dcgmi diag"); ssh.Loads(ctx) != want {
			t.Errorf("%s: load %t, want %t", line, !want, want)
		}
		return answers[line], nil
	}}})
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
}

// limited runs commands as the pool does: each ends at ssh.Limit of the site's timeout.
func limited(ctx context.Context, took time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, ssh.Limit(ctx, site.DefaultSSHTimeout))
	defer cancel()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(took):
		return nil
	}
}

// Where nvidia-smi never ends, as after Xid 119, the host takes minutes and not a timeout for each command: the other
// commands of the driver and the diagnostic are not run, and the kernel log is read.
func TestNVIDIASMIHangs(t *testing.T) {
	t.Parallel()
	for hangs, want := range map[string][]string{
		"nvidia-smi -q -x":     {"nvidia-smi!", "ibstat!", "lspci!", "nvidia-fabricmanager", "dmesg"},
		"nvidia-smi nvlink -e": {"nvidia-smi", "nvidia-smi-nvlink", "ibstat!", "host", "lspci!", "nvidia-fabricmanager", "nvidia-smi-nvlink-errors!", "dmesg"},
		"ibstat": {"nvidia-smi", "nvidia-smi-nvlink", "ibstat!", "host", "lspci!", "nvidia-fabricmanager", "nvidia-smi-nvlink-errors", "dcgmi-diag", "nvidia-smi-load",
			"nvidia-smi-after", "nvidia-smi-nvlink-errors-after", "dmesg"},
	} {
		synctest.Test(t, func(t *testing.T) {
			answers := outputs(t)
			g := node.New(testSite(1), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(ctx context.Context, _, line string) (ssh.Output, error) {
				took := time.Second
				if line == hangs {
					took = 100 * time.Hour
				}
				began, out := time.Now(), answers[line]
				err := limited(ctx, took)
				out.Took = time.Since(began)
				return out, err
			}}})
			began, rec := time.Now(), &recorder{}
			if err := g.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("%s hangs: %s", hangs, took)
			}
			if diff := cmp.Diff(want, rec.kindsOf("gpu-01")); diff != "" {
				t.Errorf("%s hangs: %s", hangs, diff)
			}
			j := g.Judge(rec.obs)
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == "gpu-01" && strings.Contains(f.Message, "did not end within 2m0s") && strings.Contains(f.Message, hangs) && strings.Contains(f.Remedy, "power-cycle")
			}) {
				t.Errorf("%s hangs: %+v", hangs, j.Findings)
			}
		})
	}
}

// A connection that times out, as that to the API server for a tool in a pod, is not a driver that hangs: the command did not run.
func TestADialThatTimesOutIsNotAHungDriver(t *testing.T) {
	t.Parallel()
	_, timedOut := (&net.Dialer{Deadline: time.Unix(1, 0)}).DialContext(t.Context(), "tcp", "127.0.0.1:6443")
	if _, ok := errors.AsType[*net.OpError](timedOut); !ok || !errors.Is(timedOut, context.DeadlineExceeded) {
		t.Fatalf("%v is not the timeout of a dial", timedOut)
	}
	answers := outputs(t)
	g := node.New(testSite(1), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(_ context.Context, _, line string) (ssh.Output, error) {
		if line == "nvidia-smi -q -x" {
			return ssh.Output{Took: 30 * time.Second}, timedOut
		}
		return answers[line], nil
	}}})
	rec := &recorder{}
	if err := g.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	for _, f := range g.Judge(rec.obs).Findings {
		if strings.Contains(f.Message, "did not end") || strings.Contains(f.Remedy, "power-cycle") {
			t.Errorf("%+v", f)
		}
	}
	if kinds := rec.kindsOf("gpu-01"); kinds[0] != "nvidia-smi!" || !slices.Contains(kinds, "nvidia-smi-nvlink") {
		t.Errorf("the other commands were not run: %v", kinds)
	}
}

// A diagnostic takes longer than other commands may: at the defaults of a site, 31 minutes were unobserved.
func TestALongDiagnostic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := outputs(t)
		g := node.New(testSite(1), testProfile(t), node.Deps{Hosts: fakeHosts{run: func(ctx context.Context, _, line string) (ssh.Output, error) {
			took := time.Second
			if strings.HasPrefix(line, "dcgmi diag") {
				took = 31 * time.Minute
			}
			return answers[line], limited(ctx, took)
		}}})
		rec := &recorder{}
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if kinds := rec.kindsOf("gpu-01"); !slices.Contains(kinds, "dcgmi-diag") {
			t.Error(kinds)
		}
	})
}
