package fabric_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/fabric"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/site"
)

// A port without errors is not listed: its first errors are listed after the soak only.
func TestTheFirstErrorsOfAPort(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	l := s.of("gpu-02 mlx5_1")
	l.before[1], l.after[1] = nil, map[string]int{"SymbolErrorCounter": 1}
	checktest.Judged(t, judge(look(t, s)), check.Failed, "gpu-02/mlx5_1", "SymbolErrorCounter of leaf-1/port2 grew by 1")
}

// Each reading of the counters must be complete.
func TestBothReadingsAreComplete(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"before the soak", "after the soak"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			s.unanswered[i] = 1
			checktest.Judged(t, judge(look(t, s)), check.Unobserved, "fabric", "1 queries of error counters were not answered")
		})
	}
}

// The note about a counter without a limit names the port where it grew most, and the first of several.
func TestTheMostGrownCounterWithoutALimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then, by int
		suspect  string
	}{
		"another grew more":                  {100, 10, "gpu-02/mlx5_1"},
		"it grew most":                       {0, 51, "gpu-01/mlx5_0"},
		"the first of two that grew as much": {7, 50, "gpu-01/mlx5_0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			first, second := s.of("gpu-01 mlx5_0"), s.of("gpu-02 mlx5_1")
			first.before[0], first.after[0] = map[string]int{"Odd": tt.then}, map[string]int{"Odd": tt.then + tt.by}
			second.before[0], second.after[0] = map[string]int{"Odd": 1}, map[string]int{"Odd": 51}
			j := judge(look(t, s))
			if j.Verdict != check.Passed || len(j.Findings) != 1 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, "Odd grew on 2 ports") {
				t.Errorf("%s: %+v, want a note about %s", j.Verdict, j.Findings, tt.suspect)
			}
		})
	}
}

// A manager that only answers does not sweep; a shorter time than two sweeps does not show it.
func TestTheShortestTimeThatShowsASweep(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]check.Verdict{20 * time.Second: check.Failed, 20*time.Second - time.Millisecond: check.Unobserved} {
		of, p := declared()
		of.Fabric.Soak = site.Duration(took)
		s := newSubnet()
		s.tick = 2
		j := plan.Judge(fabric.New(of, p, onhost.Deps{}), lookAt(t, s, of, p))
		checktest.Judged(t, j, want, "subnet manager", "sweep")
	}
}

// The master answers SMInfo to ibdiagnet too. On a subnet of one switch this answer was taken for a sweep: the counts
// of sminfo on two hosts before and after the soak are n, n+1, n+3, n+4 then.
func TestAnAnswerToIbdiagnetIsNotASweep(t *testing.T) {
	t.Parallel()
	of, p := declared()
	of.Fabric.Switches, of.Fabric.HCAs, of.Fabric.Links = []string{"leaf-0"}, []string{"mlx5_0"}, 2
	for _, tt := range []struct {
		scans, sweeps int
		want          check.Verdict
	}{{1, 0, check.Failed}, {1, 1, check.Passed}, {0, 0, check.Failed}, {0, 1, check.Unobserved}} { // a scan that failed does not ask
		s := newSubnet()
		if tt.scans == 0 {
			s.instead["gpu-01 ibdiagnet"] = says("", "-E- Failed to open the port\n", 255)
		}
		s.links = s.links[:2] // of mlx5_0 to leaf-0
		s.summary = strings.NewReplacer(": 7", ": 3", ": 3", ": 1", ": 4", ": 2").Replace(s.summary)
		s.sms = map[string]string{"gpu-01": strings.ReplaceAll(s.sms["gpu-01"], "%d", "100"), "gpu-02": strings.ReplaceAll(s.sms["gpu-02"], "%d", "101")}
		obs := lookAt(t, s, of, p)
		for i, activity := range []int{100, 101, 102 + tt.scans + tt.sweeps, 103 + tt.scans + tt.sweeps} {
			obs = withActivity(t, obs, i, activity)
		}
		j := plan.Judge(fabric.New(of, p, onhost.Deps{}), obs)
		accused := slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
			return f.Suspect == "subnet manager" && strings.Contains(f.Message, "does not sweep")
		})
		if j.Verdict != tt.want || accused != (tt.sweeps == 0) {
			t.Errorf("%+v: %s: %+v", tt, j.Verdict, j.Findings)
		}
	}
}

// withActivity sets the activity count of the i-th answer of sminfo.
func withActivity(t *testing.T, obs []check.Observation, i, activity int) []check.Observation {
	t.Helper()
	for at, o := range obs {
		if o.Kind != "sminfo" {
			continue
		}
		if i--; i >= 0 {
			continue
		}
		info, err := check.Decode[infiniband.SMInfo](o)
		if err != nil {
			t.Fatal(err)
		}
		info.Activity = uint64(activity)
		if obs[at], err = o.WithFigures(info); err != nil {
			t.Fatal(err)
		}
		break
	}
	return obs
}

// Adapters of a node that is left out may be on the subnet or not; more than these are foreign.
func TestNodesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	obs := look(t, newSubnet())
	of, p := declared()
	g := fabric.New(of, p, onhost.Deps{}).Excluding([]string{"gpu-02"})
	left := func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }
	says := func(adapters int) checktest.Change { return checktest.Set("ibdiagnet", ".channelAdapters", adapters) }
	checktest.Rules(t, left, obs, []checktest.Rule{
		checktest.When("all are on the subnet").Passes(),
		checktest.When("one of them is missing", says(3)).Passes(),
		checktest.When("all of them are missing", says(2)).Passes(),
		checktest.When("another adapter is missing", says(1)).Fails("fabric", "3 switches and 1 adapters, the site expects 3 and 2"),
		checktest.When("one adapter too many", says(5)).Fails("fabric", "3 switches and 5 adapters, the site expects 3 and 2"),
	})
	if !slices.ContainsFunc(left(obs).Figures, func(f check.Figure) bool {
		return f.Name == "subnet nodes" && f.Value == 7 && f.Limit == 5 && f.Relation == ">="
	}) {
		t.Errorf("7 nodes are at least 5: %+v", left(obs).Figures)
	}
	if j := judge(obs); !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "subnet nodes" && f.Relation == "==" }) ||
		slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "subnet nodes of others" }) {
		t.Errorf("without nodes that are left out or of others: %+v", j.Figures)
	}
}

// ibdiagnet names an adapter by the GUID of its node or of its port, and a switch's port by its number
// or its label. A line that names a link has one finding, about the link.
func TestWhatAnErrorOfIbdiagnetNames(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	s.errors["Speed / Width checks"] = []string{s.diagPort("leaf-1", 33) + " - something is wrong"}
	obs := look(t, s)
	names := func(guid string) checktest.Change {
		return checktest.Set("ibdiagnet", ".errors[0].ports[*].nodeGUID", guid)
	}
	checktest.Rules(t, judge, obs, []checktest.Rule{
		checktest.When("a GUID of a node", checktest.Set("ibstat@gpu-02", "[1].nodeGUID", "0x00000000000000aa"), names("0x00000000000000aa")).Fails("gpu-02/mlx5_1", "something is wrong"),
		checktest.When("a GUID of a port", checktest.Set("ibstat@gpu-02", "[1].ports[0].portGUID", "0x00000000000000bb"), names("0x00000000000000bb")).Fails("gpu-02/mlx5_1", "something is wrong"),
		checktest.When("a number of a port").Fails("leaf-1/port33", "something is wrong"),
		checktest.When("a label of a port", checktest.Set("ibdiagnet", ".errors[0].ports[*].port", 0), checktest.Set("ibdiagnet", ".errors[0].ports[*].label", "cage17/1")).Fails("leaf-1/cage17/1", "something is wrong"),
		checktest.When("a node's GUID is unique", checktest.Set("ibstat", "[0].nodeGUID", "0x00000000000000aa")).Fails("gpu-02/mlx5_0", "has the GUID 0x00000000000000aa, which gpu-01/mlx5_0 has too"),
		checktest.When("a partition key has 16 bits", checktest.Set("ibv_devinfo@gpu-02", ".tables[*].keys", []string{"0x1ffff"})).Fails("gpu-02/mlx5_0", "full member of no partition"),
	})
	if found := judge(obs).Findings; len(found) != 1 {
		t.Errorf("one line, one finding: %+v", found)
	}
}

// A node that is left out may leave the subnet, and not answer: it may be restarted.
func TestALeftOutNodeThatLeaves(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	s.nodes, s.left = [2]int{7, 5}, []string{"gpu-02 mlx5_0", "gpu-02 mlx5_1"}
	s.unanswered, s.silent = [2]int{1, 0}, []string{"gpu-02 mlx5_0"}
	of, p := declared()
	obs := look(t, s)
	if j := plan.Judge(fabric.New(of, p, onhost.Deps{}).Excluding([]string{"gpu-02"}), obs); j.Verdict != check.Passed || len(j.Findings) != 2 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	checktest.Judged(t, judge(obs), check.Failed, "gpu-02/mlx5_1", "left the subnet")
	// older evidence has no names of those that left
	obs = slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind == "iblinkinfo after soak" })
	checktest.Judged(t, judge(obs), check.Failed, "fabric", "2 nodes left the subnet during the soak (7, then 5)")
}

// ibdiagnet's files are in a directory of the gate: those of another program's last run are in /var/tmp/ibdiagnet2. The
// remedy names it, also that of an older observation.
func TestDirectoryOfIbdiagnet(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	s.errors["Discovery"] = []string{"something is wrong"}
	all := look(t, s)
	for command, dir := range map[string]string{"": "/var/tmp/firstlight-ibdiagnet", "ibdiagnet": "/var/tmp/ibdiagnet2"} {
		obs := slices.Clone(all)
		i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Kind == "ibdiagnet" })
		if command != "" {
			obs[i].Command = command
		}
		if j := judge(obs); len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Remedy, "("+dir+" on the host") {
			t.Errorf("%s: %+v, want %s in the remedy", obs[i].Command, j.Findings, dir)
		}
	}
}

// The port of the subnet manager need not be in the default partition.
func TestKeysOfTheManagersPort(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	s.baseLID["gpu-01/mlx5_0"] = 1
	for _, l := range s.links {
		if host, device, ok := strings.Cut(l.a, " "); ok {
			s.keys[host+"/"+device] = []string{"0x8001"}
		}
	}
	checktest.Judged(t, judge(look(t, s)), check.Passed, "", "")
}

// An adapter with a finding is not counted among those that are active at their rate.
func TestFigureOfActiveAdapters(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*cable){
		"of another rate": func(l *cable) { l.rate = 200 },
		"not configured":  func(l *cable) { l.state = "Initialize" },
		"in training":     func(l *cable) { l.phys = "Polling" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubnet()
			spoil(s.of("gpu-01 mlx5_0"))
			j := judge(look(t, s))
			if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "adapters active at rate" && f.Value == 3 && f.Limit == 4 }) {
				t.Errorf("3 of 4 adapters are active at their rate: %+v", j.Figures)
			}
		})
	}
}

// A pass over a shorter soak than the floor is marked.
func TestAShorterSoakIsLowered(t *testing.T) {
	t.Parallel()
	of, p := declared()
	if lowered := fabric.New(of, p, onhost.Deps{}).Lowered(); len(lowered) != 1 || !strings.Contains(lowered[0], "fabric.soak") {
		t.Errorf("lowered: %v", lowered)
	}
}
