package ibsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/fabric"
	"github.com/firstlight/firstlight/internal/world/host"
)

// soak is that of the site. The programs have a sixtieth of it: OpenSM then sweeps every
// second instead of every 10, which is what it counts.
const (
	soak      = 3 * time.Minute
	realSoak  = 3 * time.Second
	realSweep = 1
)

// fault is a defect of the world and what has the same effect on the programs.
type fault struct {
	kind    string
	target  string
	nodes   int // 4 where not given
	options map[string]string
	// differs, if set, is the message of the programs where it is not that of the world.
	differs string
	// during runs in the soak; it has the links of the world, with their counters after it.
	during func(*testing.T, *programs)
	// sm, if set, replaces the start of the subnet manager.
	sm func(*testing.T, *programs)
}

// unlink pulls the cable of a link; the subnet manager sweeps it out.
func unlink(end string) func(*testing.T, *programs) {
	return func(t *testing.T, p *programs) {
		sm := p.startSM(t, realSweep)
		n := sm.Sweeps()
		p.console(t, fmt.Sprintf("Unlink %q[1]", end))
		if err := sm.Swept(t.Context(), n+1); err != nil {
			t.Fatal(err)
		}
	}
}

var faults = map[string]fault{
	"healthy":            {},
	"healthy, 200 nodes": {nodes: 200},
	"a second subnet manager of equal priority is standby": {sm: func(t *testing.T, p *programs) {
		p.startSM(t, realSweep)
		second, err := p.StartSM(t.Context(), p.healthy.Switches[1], realSweep)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(second.Stop)
	}},
	"link down":                  {kind: "link-down", target: "gpu-02/mlx5_1", sm: unlink("gpu-02 mlx5_1")},
	"link down between switches": {kind: "link-down", target: "spine-0/1", sm: unlink("spine-0")},
	"link at half rate":          {kind: "link-degraded", target: "gpu-02/mlx5_1"},
	"link at half width":         {kind: "link-degraded", target: "gpu-02/mlx5_1", options: map[string]string{"how": "width"}},
	"link flaps":                 {kind: "link-flapping", target: "gpu-02/mlx5_1", during: counters},
	"remote physical errors":     {kind: "link-ber", target: "gpu-02/mlx5_1", during: counters},
	"link integrity errors":      {kind: "link-ber", target: "gpu-02/mlx5_1", options: map[string]string{"counter": "LocalLinkIntegrityErrors", "per-second": "0.1"}, during: counters},
	"buffer overruns":            {kind: "link-ber", target: "gpu-02/mlx5_1", options: map[string]string{"counter": "ExcessiveBufferOverrunErrors", "per-second": "0.1"}, during: counters},
	"rails swapped":              {kind: "rails-swapped", target: "gpu-02"},
	"cables swapped":             {kind: "cables-swapped", target: "gpu-02"},
	"subnet manager dead": {kind: "sm-dead", sm: func(t *testing.T, p *programs) {
		if err := p.startSM(t, realSweep).Kill(); err != nil {
			t.Error(err)
		}
	}},
	"subnet manager never ran":      {kind: "sm-dead", options: map[string]string{"how": "uninitialised"}, sm: func(*testing.T, *programs) {}},
	"subnet manager does not sweep": {kind: "sm-dead", options: map[string]string{"how": "frozen"}, differs: "does not sweep.* of which 2 are answers to this gate", sm: func(t *testing.T, p *programs) { p.startSM(t, 0) }},
}

// quick are those of every change.
var quick = []string{"healthy", "link down"}

// The gate reads the output of a real subnet manager and of the real tools: a healthy fabric
// passes, and each fault has the findings that the world's own tools give for it. ibdiagnet,
// ibv_devinfo and the partition keys are those of the healthy world, and so are the name, rate
// and firmware in ibstat: none of these findings comes from them.
func TestGateFindsTheSameOverRealPrograms(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	for name, f := range faults {
		if suite.Current() < suite.All && !slices.Contains(quick, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite.Admit(t)
			w, s := declared(t, cmp.Or(f.nodes, 4), 2)
			healthy := w.State()
			if f.kind != "" {
				if _, err := w.AddFault(world.Fault{Kind: f.kind, Target: f.target, Options: f.options}); err != nil {
					t.Fatal(err)
				}
			}
			expected := judge(t, s, "h100-sxm-ndr400", worldHosts{w.World, healthy}, w.soak)
			p := startPrograms(t, healthy, w.State())
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
			if f.kind == "" && len(expected.Findings)+len(observed.Findings) > 0 {
				t.Errorf("healthy: world %+v, programs %+v", expected.Findings, observed.Findings)
			}
			want := check.Failed
			if f.kind == "" {
				want = check.Passed
			}
			if expected.Verdict != want || observed.Verdict != want {
				t.Errorf("world: %s, programs: %s (%s); want %s", expected.Verdict, observed.Verdict, observed.Reason, want)
			}
			if f.differs != "" { // a State of the world cannot count answers
				if len(observed.Findings) != 1 || observed.Findings[0].Suspect != expected.Findings[0].Suspect || !regexp.MustCompile(f.differs).MatchString(observed.Findings[0].Message) {
					t.Errorf("want %s %q, got %+v", expected.Findings[0].Suspect, f.differs, observed.Findings)
				}
			} else if diff := gocmp.Diff(rules(expected), rules(observed)); diff != "" {
				t.Errorf("findings of the world (-) and of the programs (+): %s\nprograms: %+v", diff, observed.Findings)
			}
		})
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

var numbers = regexp.MustCompile(`\b[0-9][0-9.]*[0-9]\b|\b[0-9]\b`)

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
func declared(t *testing.T, nodes, hcas int) (clocked, *site.Site) {
	t.Helper()
	spec := world.DefaultSpec(nodes)
	spec.HCAs, spec.Spines = spec.HCAs[:hcas], 2
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

// worldHosts are the hosts of the world. Outputs that ibsim lacks are those of the healthy
// world, as in programs.
type worldHosts struct {
	*world.World
	healthy world.State
}

func (h worldHosts) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	if lacking(argv) {
		return simulated(ctx, h.healthy, node, argv), nil
	}
	return simulated(ctx, h.State(), node, argv), nil
}

// lacking reports whether ibsim lacks the output of a command.
func lacking(argv []string) bool { return argv[0] == "ibdiagnet" || argv[0] == "sh" }

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

// programs are the hosts of a site whose fabric tools are the real ones, over a fabric of ibsim.
type programs struct {
	*Fabric
	// healthy has what ibsim lacks, after the links with the counters at the end of the soak.
	healthy, after world.State
	links          map[string]fabric.Link // by the name of the adapter
}

// startPrograms starts ibsim with the cables, speeds and widths of a state, a generation slower
// than the world's: ibsim has no NDR. A link that is down there is up here, until it is unlinked.
func startPrograms(t *testing.T, healthy, s world.State) *programs {
	t.Helper()
	p := &programs{healthy: healthy, links: map[string]fabric.Link{}}
	top := fabric.Topology{Switches: s.Switches, Links: slices.Clone(s.Links)}
	slower := map[float64]float64{106.25: 53.125, 53.125: 25.78125}
	for i := range top.Links {
		l := &top.Links[i]
		if l.Width == 0 {
			l.Width, l.LaneGbps = l.MaxWidth, l.MaxLane
		}
		l.LaneGbps = slower[l.LaneGbps]
		p.links[nodeName(l.A)] = *l
	}
	for _, n := range s.GPUNodes() {
		top.HCAs = append(top.HCAs, n.HCAs...)
	}
	var err error
	if p.Fabric, err = Start(t.Context(), t.TempDir(), top); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.sim.Stop)
	return p
}

func (p *programs) startSM(t *testing.T, sweep int) *SM {
	t.Helper()
	sm, err := p.StartSM(t.Context(), p.healthy.Switches[0], sweep)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sm.Stop)
	return sm
}

func (p *programs) console(t *testing.T, command string) {
	t.Helper()
	if err := p.Console(t.Context(), command); err != nil {
		t.Fatal(err)
	}
}

// Run runs the tools of the fabric on the node's first adapter, and ibstat on each adapter.
func (p *programs) Run(ctx context.Context, node string, argv ...string) (ssh.Output, error) {
	n, ok := p.healthy.Node(node)
	switch {
	case !ok:
		return ssh.Output{}, fmt.Errorf("unknown host %s", node)
	case lacking(argv):
		return simulated(ctx, p.healthy, node, argv), nil
	case argv[0] != "ibstat":
		return p.run(ctx, node, n.HCAs[0].Name, argv...)
	}
	var all ssh.Output
	for _, h := range n.HCAs {
		out, err := p.run(ctx, node, h.Name, argv...)
		if err != nil {
			return all, err
		}
		l := p.links[node+" "+h.Name]
		rate := fmt.Sprintf("Rate: %d", fabric.DataRate(l.LaneGbps)*l.Width)
		all.Stdout = append(all.Stdout, strings.NewReplacer(
			"ibsim0", h.Name, "CA type: simulator", "CA type: MT4129", "Firmware version: 1", "Firmware version: "+h.Firmware, "Rate: 104", rate,
		).Replace(string(out.Stdout))...)
		all.Stderr, all.Exit = append(all.Stderr, out.Stderr...), max(all.Exit, out.Exit)
	}
	return all, nil
}

func (p *programs) run(ctx context.Context, node, device string, argv ...string) (ssh.Output, error) {
	stdout, stderr, exit, err := p.Fabric.Run(ctx, node, device, argv...)
	return ssh.Output{Stdout: stdout, Stderr: stderr, Exit: exit}, err
}
