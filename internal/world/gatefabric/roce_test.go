package gatefabric

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/roce"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const soak = 10 * time.Minute

// bench is a world on RoCE whose time the soak advances, with its site and profile.
type bench struct {
	*world.World
	clock   *testingclock.FakePassiveClock
	site    *site.Site
	profile *profile.Profile
}

func newBench(t *testing.T, nodes int) *bench {
	t.Helper()
	const hardware = "h100-sxm-roce400"
	spec, err := world.SpecOf(hardware, nodes)
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	w, err := world.New(spec, world.WithClock(clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{
		Reach:  site.Reach{SSH: site.SSH{Concurrency: 4}},
		Fabric: site.Fabric{HCAs: spec.HCAs, RoCE: &site.RoCE{Priority: new(3), DSCP: new(26)}, Soak: site.Duration(soak)},
	}
	for _, n := range spec.GPUNodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: n.Name})
	}
	return &bench{w, clock, s, p}
}

// Run runs a command on a host of the world.
func (b *bench) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	var out, errOut bytes.Buffer
	exit := host.Shell(ctx, b.World, func() string { return node }, ssh.Quote(argv), &out, &errOut, host.Run)
	return ssh.Output{Stdout: out.Bytes(), Stderr: errOut.Bytes(), Exit: exit}, nil
}

// observe returns the observations of the gate.
func (b *bench) observe(t *testing.T, hosts onhost.Hosts) []check.Observation {
	t.Helper()
	var rec book
	g := roce.New(b.site, b.profile, onhost.Deps{Hosts: hosts, Clock: b.clock, Wait: func(ctx context.Context, d time.Duration) error {
		b.clock.SetTime(b.clock.Now().Add(d))
		return ctx.Err()
	}})
	if err := g.Observe(t.Context(), &rec); err != nil {
		t.Fatal(err)
	}
	return rec.obs
}

// judge judges as replay does: with nothing to observe with.
func (b *bench) judge(obs []check.Observation) check.Judgement {
	return plan.Judge(roce.New(b.site, b.profile, onhost.Deps{}), obs)
}

type book struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (b *book) Record(o check.Observation) (check.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.ID = fmt.Sprintf("%04d-%s-%s", len(b.obs), o.Kind, o.Target)
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

func TestHealthyPasses(t *testing.T) {
	t.Parallel()
	b := newBench(t, 4)
	j := b.judge(b.observe(t, b))
	if j.Verdict != check.Passed || len(j.Findings) > 0 {
		t.Fatalf("%s: %+v", j.Reason, j.Findings)
	}
	want := "32 RoCE ports up at 400 Gb/s with an RDMA MTU of 4096, PFC and ECN on priority 3, counters within their limits over 10m0s"
	if j.Reason != want {
		t.Errorf("%s; want %s", j.Reason, want)
	}
}

// TestEveryFault: each fault of a RoCE fabric fails the gate, and a finding names the suspect.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for _, k := range append(world.Catalogue(), world.Variations()...) {
		if k.Gate != roce.Name && !k.Variation || k.Fabric == world.InfiniBand || k.Fabric == world.EFA || k.Fabric == "" && k.Gate != roce.Name {
			continue
		}
		t.Run(k.Kind, func(t *testing.T) {
			t.Parallel()
			if k.Fabric == world.RoCE {
				suite.RequireFault(t, "internal/world/gatefabric TestEveryFault", k.Kind)
			}
			b := newBench(t, 3)
			f, err := b.AddFault(world.Fault{Kind: k.Kind})
			if err != nil {
				t.Fatal(err)
			}
			suspect, err := b.SuspectPattern(f)
			if err != nil {
				t.Fatal(err)
			}
			j := b.judge(b.observe(t, b))
			if want := check.Verdict(cmp.Or(k.Expect, string(check.Failed))); j.Verdict != want {
				t.Errorf("%s: %s, want %s", j.Verdict, j.Reason, want)
			}
			for _, finding := range j.Findings {
				if suspect.MatchString(finding.Suspect) {
					t.Logf("%s: %s", finding.Suspect, finding.Message)
					return
				}
			}
			t.Errorf("no finding names a suspect like %s: %+v", suspect, j.Findings)
		})
	}
}
