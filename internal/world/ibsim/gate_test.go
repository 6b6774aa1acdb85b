package ibsim

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	gate "github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// soak is that of the site. The programs have a sixtieth of it: OpenSM then sweeps every
// second instead of every 10, which is what it counts.
const (
	soak      = 3 * time.Minute
	realSoak  = 3 * time.Second
	realSweep = 1
)

// quick are those of every change.
var quick = []string{"healthy", "link down"}

// The gate reads the output of a real subnet manager and of the real tools: a healthy fabric
// passes, and each fault has the findings that the world's own tools give for it. ibdiagnet is
// that of the world on both sides; ibv_devinfo and the name, rate and firmware in ibstat are
// those of the healthy world for the programs: none of the findings comes from them.
func TestGateFindsTheSameOverRealPrograms(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	for name, f := range faults {
		if suite.Current() < suite.All && !slices.Contains(quick, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f.withoutUMAD != "" && exists(devices) {
				t.Skip("this machine has InfiniBand devices: the tools would query their subnet")
			}
			suite.Admit(t)
			compare(t, f)
		})
	}
}

// compare judges a fault by the tools of the world and by the programs.
func compare(t *testing.T, f fault) {
	t.Helper()
	w, s := declared(t, cmp.Or(f.nodes, 4), 2, 2)
	healthy := w.State()
	f.add(t, w.World)
	faulty, diagnosed := w.State(), healthy
	s.Fabric.Others = f.others
	for i, h := range faulty.Strangers {
		if f.byGUID {
			s.Fabric.Others = append(s.Fabric.Others[:i:i], fmt.Sprintf("0x%016x", h.GUID))
		}
	}
	if f.diagnosed {
		diagnosed = faulty
	}
	expected := judge(t, s, "h100-sxm-ndr400", worldHosts{w.World, diagnosed}, w.soak)
	p := startPrograms(t, healthy, faulty)
	p.diagnosed, p.withoutUMAD = diagnosed, f.withoutUMAD
	if f.sm == nil {
		p.startSM(t, realSweep)
	} else {
		f.sm(t, p)
	}
	observed := judge(t, s, "h100-sxm-hdr200", p, func(ctx context.Context, d time.Duration) error {
		if f.during != nil {
			p.after = w.State()
			f.during(t, p)
		}
		return poll.Sleep(ctx, realSoak)
	})
	want := cmp.Or(f.verdict, check.Failed)
	if f.kind == "" {
		want = check.Passed
		if len(expected.Findings)+len(observed.Findings) > 0 {
			t.Errorf("healthy: world %+v, programs %+v", expected.Findings, observed.Findings)
		}
	}
	if expected.Verdict != want || observed.Verdict != want {
		t.Errorf("world: %s, programs: %s (%s); want %s", expected.Verdict, observed.Verdict, observed.Reason, want)
	}
	if want == check.Passed {
		totals(t, s, expected, observed)
	}
	if f.differs != "" { // a State of the world cannot count answers
		if len(observed.Findings) != 1 || observed.Findings[0].Suspect != expected.Findings[0].Suspect || !regexp.MustCompile(f.differs).MatchString(observed.Findings[0].Message) {
			t.Errorf("want %s %q, got %+v", expected.Findings[0].Suspect, f.differs, observed.Findings)
		}
	} else if diff := gocmp.Diff(rules(expected), rules(observed)); diff != "" {
		t.Errorf("findings of the world (-) and of the programs (+): %s\nprograms: %+v", diff, observed.Findings)
	}
}

// add injects the fault's defects.
func (f fault) add(t *testing.T, w *world.World) {
	t.Helper()
	var defects []world.Fault
	if f.kind != "" {
		defects = append(defects, world.Fault{Kind: f.kind, Target: f.target, Options: f.options})
	}
	if f.also != nil {
		defects = append(defects, *f.also)
	}
	for _, d := range defects {
		if _, err := w.AddFault(d); err != nil {
			t.Fatal(err)
		}
	}
}

// totals requires that the numbers of links, adapters, cables and nodes are those of the site, without those of others.
func totals(t *testing.T, s *site.Site, judgements ...check.Judgement) {
	t.Helper()
	adapters := len(s.Inventory.Nodes) * len(s.Fabric.HCAs)
	want := map[string]int{
		"links up": s.Fabric.Links, "cables as designed": s.Fabric.Links, "adapters active at rate": adapters,
		"subnet nodes": adapters + len(s.Fabric.Switches), "subnet nodes of others": len(s.Fabric.Others),
	}
	for _, j := range judgements {
		got := map[string]int{"subnet nodes of others": 0} // no figure without one
		for _, figure := range j.Figures {
			if _, ok := want[figure.Name]; ok {
				got[figure.Name] = int(figure.Value)
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("totals: %s", diff)
		}
	}
}

func needPrograms(t *testing.T) {
	t.Helper()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
}

// rules are the findings as "suspect: rule", the rule being a message without numbers and names.
func rules(j check.Judgement) map[string]bool {
	out := map[string]bool{}
	for _, f := range j.Findings {
		for clause := range strings.SplitSeq(f.Message, "; ") {
			out[f.Suspect+": "+numbers.ReplaceAllString(clause, "N")] = true
		}
	}
	return out
}

// numbers are decimal numbers and GUIDs: those of a node and of its port differ in ibsim.
var numbers = regexp.MustCompile(`\b0x[0-9a-f]{16}\b|\b[0-9][0-9.]*[0-9]\b|\b[0-9]\b`)

// judge observes and judges a fabric; wait is the soak.
func judge(t *testing.T, s *site.Site, hardware string, hosts onhost.Hosts, wait func(context.Context, time.Duration) error) check.Judgement {
	t.Helper()
	p, err := profile.Load(hardware)
	if err != nil {
		t.Fatal(err)
	}
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	g := gate.New(s, p, onhost.Deps{Hosts: hosts, Clock: clock, Wait: func(ctx context.Context, d time.Duration) error {
		clock.SetTime(clock.Now().Add(d))
		return wait(ctx, d)
	}})
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return plan.Judge(g, b.obs)
}

type book struct {
	mu  sync.Mutex
	obs []check.Observation
}

func (b *book) Record(o check.Observation) (check.Observation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o.ID = fmt.Sprint(len(b.obs))
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}
