package ibsim

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// clocked is a world whose time the soak advances.
type clocked struct {
	*world.World
	clock *testingclock.FakePassiveClock
}

func (c clocked) soak(ctx context.Context, d time.Duration) error {
	c.clock.SetTime(c.clock.Now().Add(d))
	return ctx.Err()
}

// declared is a world and the site of its fabric, with the healthy world as the design.
func declared(t *testing.T, nodes, hcas, spines int) (clocked, *site.Site) {
	t.Helper()
	spec := world.DefaultSpec(nodes)
	spec.HCAs, spec.Spines = spec.HCAs[:hcas], spines
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	w, err := world.New(spec, world.WithClock(clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{
		Reach:  site.Reach{SSH: site.SSH{FabricHost: spec.GPUNodes[0].Name, Concurrency: 2}},
		Fabric: site.Fabric{HCAs: spec.HCAs, Links: len(w.State().Links), Soak: site.Duration(soak)},
	}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name})
	}
	for _, sw := range w.State().Switches {
		s.Fabric.Switches = append(s.Fabric.Switches, sw.Name)
	}
	s.Fabric.Design = filepath.Join(t.TempDir(), "design")
	out := simulated(t.Context(), w.State(), spec.GPUNodes[0].Name, []string{"ibnetdiscover"})
	if err := os.WriteFile(s.Fabric.Design, out.Stdout, 0o600); err != nil {
		t.Fatal(err)
	}
	return clocked{w, clock}, s
}

// worldHosts are the hosts of the world. ibdiagnet, which ibsim lacks, shows the same state as in programs.
type worldHosts struct {
	*world.World
	diagnosed world.State
}

func (h worldHosts) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	if argv[0] == "ibdiagnet" {
		return simulated(ctx, h.diagnosed, node, argv), nil
	}
	return simulated(ctx, h.State(), node, argv), nil
}

func simulated(ctx context.Context, s world.State, node string, argv []string) ssh.Output {
	if argv[0] == "sh" { // the gate's only script: commands joined by &&
		var all ssh.Output
		for part := range strings.SplitSeq(argv[2], " && ") {
			out := simulated(ctx, s, node, strings.Fields(part))
			all.Stdout, all.Stderr, all.Exit = append(all.Stdout, out.Stdout...), append(all.Stderr, out.Stderr...), max(all.Exit, out.Exit)
		}
		return all
	}
	stdout, stderr, exit := host.Run(ctx, s, node, argv)
	return ssh.Output{Stdout: stdout, Stderr: stderr, Exit: exit}
}
