package drift

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/sshd"
)

// siteOf is the example's site with a profile, and the adapters that it may name.
func siteOf(t *testing.T, hardware string) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	if s.Profile = hardware; !p.Verbs() {
		s.Fabric.HCAs = nil
	}
	return s, p
}

// The stack required ibstat on every compute fabric. On EFA and TCPXO gate node does not run it, and the
// hosts need not have it: no comparison was observed.
func TestTheStackNeedsNoOtherProgramThanGateNode(t *testing.T) {
	t.Parallel()
	for hardware, adapters := range map[string]bool{
		"h100-sxm-ndr400": true, "h100-sxm-roce400": true, "h200-sxm-efa-p5en": false, "h100-sxm-tcpxo": false, "h100-sxm": false,
	} {
		s, p := siteOf(t, hardware)
		compared, err := Plan(s, p, Baseline{Run: "r"}, gate.Access{})
		if err != nil {
			t.Fatal(err)
		}
		lines := compared.Steps[0].Describe[1:]
		ofNode := node.New(s, p, node.Deps{}).Describe()
		for _, line := range lines {
			if !slices.Contains(ofNode, line) {
				t.Errorf("%s: gate node does not run %s", hardware, line)
			}
		}
		if slices.Contains(lines, "ibstat") != adapters || !slices.Contains(lines, "nvidia-smi -q -x") {
			t.Errorf("%s: %q, with ibstat %t", hardware, lines, adapters)
		}
	}
}

// recorder keeps observations.
type recorder struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.ID = fmt.Sprint(len(r.obs))
	r.obs = append(r.obs, o)
	return o, nil
}

func (r *recorder) Progress(string, ...any) {}

// onHosts is a site of two hosts of a world, over SSH at 127.86.NET.
func onHosts(t *testing.T, hardware string, net int) (*site.Site, *profile.Profile, *world.World, *ssh.Pool) {
	t.Helper()
	spec, err := world.SpecOf(hardware, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = fmt.Sprintf("127.86.%d.%d", net, i+1)
	}
	w, err := world.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sshd.Start(context.WithoutCancel(t.Context()), w, sshd.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s, p := siteOf(t, hardware)
	s.Inventory.Nodes, s.Workloads.Training.Nodes = nil, len(spec.GPUNodes)
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Address: server.Nodes[n.Name], Rack: n.Rack})
	}
	s.Reach.SSH = site.SSH{
		Concurrency: 3, User: server.User, IdentityFile: server.IdentityFile, KnownHostsFile: server.KnownHostsFile,
		Timeout: site.Duration(time.Minute), ConnectTimeout: site.Duration(site.DefaultSSHConnectTimeout),
	}
	pool, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return s, p, w, pool
}

// The stack of accepted hosts equals that of the baseline that gate node has observed, on fabrics with
// adapters in ibstat and without, and another driver does not. Hosts without nvidia-smi are observed
// through the GPU Operator's pods, as gate node does: the stack ran it over SSH only, and was never observed
// with a containerised driver.
func TestTheStackOfAcceptedHosts(t *testing.T) {
	t.Parallel()
	for i, hardware := range []string{world.DefaultHardware, "h200-sxm-efa-p5en"} {
		t.Run(hardware, func(t *testing.T) {
			t.Parallel()
			s, p, w, pool := onHosts(t, hardware, i+1)
			accepted := &recorder{}
			if err := node.New(s, p, node.Deps{Hosts: pool}).Observe(t.Context(), accepted); err != nil {
				t.Fatal(err)
			}
			was, err := Declared(s, p)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(was, ofHosts(accepted.obs))
			if firmware := slices.ContainsFunc(slices.Collect(maps.Keys(was)), func(c string) bool { return strings.HasPrefix(c, "firmware of ") }); len(was["driver"]) != 1 || firmware != p.Verbs() {
				t.Fatalf("the baseline: %v", was)
			}
			observed := func() check.Judgement {
				t.Helper()
				compared, err := Plan(s, p, Baseline{Run: "r", Stack: was}, gate.Access{Hosts: pool, Cluster: func(context.Context) (*kube.Cluster, error) {
					return nil, errors.New("there is no API server")
				}})
				if err != nil {
					t.Fatal(err)
				}
				rec := &recorder{}
				if err := compared.Steps[0].Check.Observe(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				return plan.Judge(compared.Steps[0].Check, rec.obs)
			}
			checktest.Judged(t, observed(), check.Passed, "", "")
			for _, tt := range []struct {
				fault         world.Fault
				suspect, says string
			}{
				{world.Fault{Kind: "driver-mismatch", Target: "gpu-02"}, "driver", " now: the baseline of run r is not valid"},
				{world.Fault{Kind: "driver-mismatch", Target: "gpu-02", Options: map[string]string{"how": "library"}}, "gpu-02", "Driver/library version mismatch"},
				{world.Fault{Kind: "driver-in-pods"}, "gpu-01", "reach the cluster for the GPU Operator's pods: there is no API server"},
			} {
				f, err := w.AddFault(tt.fault)
				if err != nil {
					t.Fatal(err)
				}
				checktest.Judged(t, observed(), check.Unobserved, tt.suspect, tt.says)
				if err := w.ClearFault(f.ID); err != nil {
					t.Fatal(err)
				}
			}
			checktest.Judged(t, observed(), check.Passed, "", "")
		})
	}
}
