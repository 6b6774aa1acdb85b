package sshd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

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

// quick are the faults of every change, one per kind of symptom; make test-all runs the others.
var quick = []string{"clocks-locked", "pcie-gen-degraded", "nvlink-errors", "ssh-hosts-swapped", "fabric-manager-down", "fabric-manager-version", "nvlink-fabric-degraded"}

// The gate finds every fault of gate node, with each of its options, in the simulated tools'
// output over SSH: verdict and suspect. A healthy cluster passes. This part of a run needs no
// cluster.
func TestGateNodeFindsItsFaults(t *testing.T) {
	t.Parallel()
	w, pool := findsItsFaults(t, world.DefaultHardware)
	fabricManagerInAContainer(t, w, pool)
}

// Faults of NVLink between nodes are those of hardware that has it.
func TestGateNodeFindsIMEXFaults(t *testing.T) {
	t.Parallel()
	findsItsFaults(t, "gb200-nvl72-ndr400")
}

func findsItsFaults(t *testing.T, hardware string) (*world.World, *ssh.Pool) {
	t.Helper()
	spec, err := world.SpecOf(hardware, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = fmt.Sprintf("127.83.%d.%d", len(t.Name()), i+1)
	}
	w, err := world.New(spec, worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	server, err := Start(context.WithoutCancel(t.Context()), w, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	s := &site.Site{Fabric: site.Fabric{HCAs: spec.HCAs}, Reach: site.Reach{SSH: site.SSH{
		Concurrency: 5, User: server.User, IdentityFile: server.IdentityFile, KnownHostsFile: server.KnownHostsFile, Timeout: site.Duration(time.Minute), ConnectTimeout: site.Duration(site.DefaultSSHConnectTimeout),
	}}}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Address: server.Nodes[n.Name], Rack: n.Rack})
	}
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	run := func() check.Judgement {
		g := node.New(s, p, node.Deps{Hosts: pool})
		rec := &recorder{}
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		return plan.Judge(g, rec.obs)
	}
	if j := run(); j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("healthy: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	for _, k := range world.Catalogue() {
		if s.Reach.SSH.Become = ""; k.Become {
			s.Reach.SSH.Become = site.Sudo
		}
		all := suite.Current() >= suite.All
		if k.Gate != "node" || k.Hardware() != hardware || !all && !k.MultiNode && !slices.Contains(quick, k.Kind) {
			continue
		}
		for _, options := range variants(k, all) {
			f, err := w.AddFault(world.Fault{Kind: k.Kind, Options: options})
			if err != nil {
				t.Fatal(err)
			}
			suspect, err := w.SuspectPattern(f)
			if err != nil {
				t.Fatal(err)
			}
			want := check.Failed
			if k.Expect != "" {
				want = check.Verdict(k.Expect)
			}
			j := run()
			named := slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return suspect.MatchString(f.Suspect) })
			if j.Verdict != want || !named {
				t.Errorf("%s %v: %s, want %s and %s: %+v", k.Kind, options, j.Verdict, want, suspect, j.Findings)
			}
			if err := w.ClearFault(f.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w, pool
}

// With a containerised driver, a host has the process of the fabric manager without its unit and
// program.
func fabricManagerInAContainer(t *testing.T, w *world.World, pool *ssh.Pool) {
	t.Helper()
	if _, err := w.AddFault(world.Fault{Kind: "driver-in-pods"}); err != nil {
		t.Fatal(err)
	}
	out, err := pool.Run(t.Context(), "gpu-02", nvidia.FabricManagerCommand()...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := nvidia.ParseFabricManager(out.Stdout)
	if err != nil || m.Unit == nil || m.Unit.Load != "not-found" || m.Processes == nil || *m.Processes != 1 || m.Version != "" {
		t.Errorf("%+v: %v: %s", m, err, out.Stdout)
	}
}

// variants returns a kind's default options and, with all, every other value.
func variants(k world.FaultKind, all bool) []map[string]string {
	out := []map[string]string{nil}
	if !all {
		return out
	}
	for _, o := range k.Options {
		for _, value := range o.Values {
			if value != o.Default {
				out = append(out, map[string]string{o.Name: value})
			}
		}
	}
	return out
}
