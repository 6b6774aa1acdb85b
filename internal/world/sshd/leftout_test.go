package sshd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// The gates of the fabric and the nodes pass without the nodes that failed, judged by the
// observations of all nodes, and fail where the failure is not of single nodes.
func TestFailedNodesAreLeftOut(t *testing.T) {
	t.Parallel()
	spec := world.DefaultSpec(4)
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = fmt.Sprintf("127.84.%d.%d", len(t.Name()), i+1)
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
	s := &site.Site{
		Fabric: site.Fabric{HCAs: spec.HCAs, Links: len(w.State().Links), Topology: site.RailOptimised, Soak: site.Duration(time.Second)},
		Reach: site.Reach{SSH: site.SSH{
			Concurrency: 5, User: server.User, IdentityFile: server.IdentityFile, KnownHostsFile: server.KnownHostsFile, Timeout: site.Duration(time.Minute),
			ConnectTimeout: site.Duration(site.DefaultSSHConnectTimeout), FabricHost: spec.GPUNodes[0].Name,
		}},
	}
	for _, sw := range w.State().Switches {
		s.Fabric.Switches = append(s.Fabric.Switches, sw.Name)
	}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name, Address: server.Nodes[n.Name]})
	}
	p, err := profile.Load(spec.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := ssh.NewPool(t.Context(), s, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	gates := map[string]check.Check{
		"fabric": fabric.New(s, p, onhost.Deps{Hosts: pool}),
		"node":   node.New(s, p, node.Deps{Hosts: pool}),
	}
	for _, tt := range []struct {
		gate    string
		faults  []world.Fault
		leftOut []string
	}{
		{"fabric", []world.Fault{{Kind: "link-degraded", Target: "gpu-04/mlx5_3"}}, []string{"gpu-04"}},
		{"fabric", []world.Fault{{Kind: "link-ber", Target: "gpu-02/mlx5_1"}}, []string{"gpu-02"}},
		{"fabric", []world.Fault{{Kind: "link-down", Target: "gpu-04/mlx5_0"}}, []string{"gpu-04"}},
		{"fabric", []world.Fault{{Kind: "pkey-missing"}}, []string{"gpu-02"}},
		{"fabric", []world.Fault{{Kind: "sm-two-masters"}}, nil},
		{"fabric", []world.Fault{{Kind: "sm-dead"}, {Kind: "link-degraded", Target: "gpu-04/mlx5_3"}}, nil},
		{"node", []world.Fault{{Kind: "ecc-uncorrectable", Target: "gpu-03/gpu2"}}, []string{"gpu-03"}},
		{"node", []world.Fault{{Kind: "driver-mismatch", Target: "gpu-04"}}, []string{"gpu-04"}},
		{"node", []world.Fault{{Kind: "gpu-off-bus", Target: "gpu-01/gpu0"}, {Kind: "driver-mismatch", Target: "gpu-02"}}, nil}, // two
		{"node", []world.Fault{{Kind: "ecc-uncorrectable", Target: "gpu-03/gpu2"}, {Kind: "host-unreachable", Target: "gpu-02"}}, nil},
	} {
		var name []string
		for _, f := range tt.faults {
			name = append(name, f.Kind)
			if _, err := w.AddFault(f); err != nil {
				t.Fatal(err)
			}
		}
		rec := &recorder{}
		if err := gates[tt.gate].Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		j := plan.JudgePart(gates[tt.gate], playbook.Expected{}, rec.obs, nil, 1)
		want := check.Partial
		if tt.leftOut == nil {
			want = check.Failed
		}
		if j.Verdict != want || !slices.Equal(j.LeftOut, tt.leftOut) {
			t.Errorf("%s, %s: %s without %v: %s, want %s without %v\n%+v", tt.gate, strings.Join(name, " and "), j.Verdict, j.LeftOut, j.Reason, want, tt.leftOut, j.Findings)
		}
		for _, f := range w.Faults() {
			if err := w.ClearFault(f.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}
