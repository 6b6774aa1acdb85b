package ibsim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	gate "github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// twoFabrics are hosts with adapters on two fabrics of ibsim.
type twoFabrics struct {
	programs [2]*programs
	hcas     [2][]string
	// hidden is an adapter whose port the tools cannot open.
	hidden string
}

// Run runs the tools of the fabric on the port that -C names; ibsim's adapter has a name of its own.
func (f *twoFabrics) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	if argv[0] == "ibstat" {
		all, err := f.programs[0].Run(ctx, node, argv...)
		if err != nil {
			return all, err
		}
		other, err := f.programs[1].Run(ctx, node, argv...)
		all.Stdout, all.Stderr, all.Exit = append(all.Stdout, other.Stdout...), append(all.Stderr, other.Stderr...), max(all.Exit, other.Exit)
		return all, err
	}
	for i, p := range f.programs {
		for _, hca := range f.hcas[i] {
			at := slices.Index(argv, hca)
			switch {
			case argv[0] == "sh" && strings.Contains(argv[2], hca):
				return p.Run(ctx, node, argv...)
			case at < 1:
			case argv[0] == "ibdiagnet":
				return p.Run(ctx, node, argv[0])
			case argv[at-1] == "-C":
				local := slices.Clone(argv)
				if local[at] = "ibsim0"; hca == f.hidden {
					local[at] = hca
				}
				return p.run(ctx, node, hca, local...)
			}
		}
	}
	return ssh.Output{}, fmt.Errorf("%v names no adapter", argv)
}

// Each subnet has a real subnet manager, and the real tools see it through its own port: a fault of one
// subnet is named with it, and a subnet that the tools do not reach is unobserved.
func TestTwoSubnetsOverRealPrograms(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	suite.Admit(t)
	hosts := &twoFabrics{hcas: [2][]string{{"mlx5_0", "mlx5_1"}, {"mlx5_2", "mlx5_3"}}}
	s := &site.Site{
		Reach:  site.Reach{SSH: site.SSH{FabricHost: "gpu-01", Concurrency: 2}},
		Fabric: site.Fabric{HCAs: slices.Concat(hosts.hcas[0], hosts.hcas[1]), Soak: site.Duration(soak)},
	}
	var sms [2]*SM
	for i, name := range []string{"rails-a", "rails-b"} {
		spec := world.DefaultSpec(3)
		spec.Seed, spec.HCAs, spec.Spines = uint64(i+1), hosts.hcas[i], 2
		w, err := world.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		n := site.Subnet{Name: name, HCAs: spec.HCAs, Links: len(w.State().Links)}
		for _, sw := range w.State().Switches {
			n.Switches = append(n.Switches, sw.Name)
		}
		s.Fabric.Subnets = append(s.Fabric.Subnets, n)
		if i == 0 {
			for _, n := range spec.GPUNodes {
				s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name})
			}
		}
		hosts.programs[i] = startPrograms(t, w.State(), w.State())
		sms[i] = hosts.programs[i].startSM(t, realSweep)
	}
	if j := judgeSubnets(t, s, hosts); j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("healthy: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}

	hosts.hidden = "mlx5_0"
	j := judgeSubnets(t, s, hosts)
	if j.Verdict != check.Unobserved || !strings.HasPrefix(j.Reason, "rails-a: ") || strings.Contains(j.Reason, "rails-b") {
		t.Errorf("a subnet that is not seen: %s: %s", j.Verdict, j.Reason)
	}
	for _, f := range j.Findings {
		if !strings.HasPrefix(f.Message, "subnet rails-a: ") {
			t.Errorf("a subnet that is not seen: %s: %s", f.Suspect, f.Message)
		}
	}

	hosts.hidden = ""
	n := sms[1].Sweeps()
	hosts.programs[1].console(t, `Unlink "gpu-02 mlx5_2"[1]`)
	if err := sms[1].Swept(t.Context(), n+1); err != nil {
		t.Fatal(err)
	}
	j = judgeSubnets(t, s, hosts)
	if j.Verdict != check.Failed || !strings.HasPrefix(j.Reason, "rails-b: ") || len(j.Findings) == 0 {
		t.Errorf("a link down: %s: %s", j.Verdict, j.Reason)
	}
	if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return f.Suspect == "gpu-02/mlx5_2" }) {
		t.Errorf("a link down: gpu-02/mlx5_2 is not named: %+v", j.Findings)
	}
	for _, f := range j.Findings {
		if !strings.HasPrefix(f.Message, "subnet rails-b: ") {
			t.Errorf("a link down: %s: %s", f.Suspect, f.Message)
		}
	}
}

func judgeSubnets(t *testing.T, s *site.Site, hosts onhost.Hosts) check.Judgement {
	t.Helper()
	p, err := profile.Load("h100-sxm-hdr200")
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	g := gate.NewSubnets(s, p, onhost.Deps{Hosts: hosts, Clock: clock, Wait: func(ctx context.Context, d time.Duration) error {
		clock.SetTime(clock.Now().Add(d))
		return poll.Sleep(ctx, realSoak)
	}})
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, b.obs)
}
