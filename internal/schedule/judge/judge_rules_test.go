package judge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// A recipe without nodes or pods, and a snapshot without them, is one finding: nothing else is judged. The pods of the
// barrier, which shows that the scheduler has seen all others, are not of the recipe.
func TestWhatIsNotASchedulingTest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		scenario func(*scenario.Scenario)
		state    func(*snapshot.State)
		verdict  check.Verdict
		suspect  string
		says     string
	}{
		"as it is":          {nil, nil, check.Passed, "", ""},
		"no nodes":          {func(c *scenario.Scenario) { c.Nodes = nil }, nil, check.Failed, "nodes", "the recipe has no nodes to schedule on"},
		"no workloads":      {func(c *scenario.Scenario) { c.Components = c.Components[:0] }, nil, check.Failed, "components", "schedules no pods"},
		"another recipe":    {nil, func(s *snapshot.State) { s.Recipe = "other" }, check.Failed, "state", "the snapshot is of recipe other"},
		"an unnamed state":  {nil, func(s *snapshot.State) { s.Recipe = "" }, check.Passed, "", ""},
		"an unnamed recipe": {func(c *scenario.Scenario) { c.Recipe = "" }, func(s *snapshot.State) { s.Recipe = "other" }, check.Passed, "", ""},
		"pods of the barrier alone": {nil, func(s *snapshot.State) {
			s.Pods = []snapshot.Pod{{Component: snapshot.OwnerBarrier, Kind: "Pod", Workload: "barrier", Name: "barrier", Node: "system-0", Phase: "Pending"}}
		}, check.Failed, "workloads", "0 pods were observed"},
		"no workloads in the state": {nil, func(s *snapshot.State) { s.Workloads = nil }, check.Failed, "workloads", "0 workloads"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := scenariotest.Scenario(t, "training")
			s := scenariotest.Simulate(c)
			if tt.scenario != nil {
				tt.scenario(&c)
			}
			if tt.state != nil {
				tt.state(&s)
			}
			j := judge.Judge(c, s)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if tt.verdict == check.Failed && (len(j.Findings) != 1 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.says)) {
				t.Errorf("%+v, want %s: %s", j.Findings, tt.suspect, tt.says)
			}
		})
	}
}

// Each figure counts what is as required: pods on a node, workloads that exist or have pods, nodes that were seen, and
// controls that failed.
func TestFiguresOfADefect(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state  func(*snapshot.State)
		figure string
		want   float64
		limit  float64
	}{
		"a pod that waits": {func(s *snapshot.State) { pend(pods(s, "prometheus")[0], "") }, judge.FigurePods, 39, 40},
		"two pods that wait": {func(s *snapshot.State) {
			pend(pods(s, "grafana")[0], "")
			pend(pods(s, "grafana")[1], "")
		}, judge.FigurePods, 38, 40},
		"a workload without pods": {func(s *snapshot.State) { drop(s, "grafana") }, judge.FigureWorkloads, 13, 13},
		"a workload whose pods are left": {func(s *snapshot.State) {
			*account(s, "grafana") = s.Workloads[len(s.Workloads)-1]
			s.Workloads = s.Workloads[:len(s.Workloads)-1]
		}, judge.FigureWorkloads, 13, 13},
		"a workload that is missing": {func(s *snapshot.State) {
			*account(s, "grafana") = s.Workloads[len(s.Workloads)-1]
			s.Workloads = s.Workloads[:len(s.Workloads)-1]
			drop(s, "grafana")
		}, judge.FigureWorkloads, 12, 13},
		"a control that passed": {func(s *snapshot.State) {
			p := pods(s, scenario.HalfGPUs)[0]
			p.Node, p.Reason, p.Message = "half-gpus-0", "", ""
		}, judge.FigureControls, 4, 5},
	} {
		c := scenariotest.Scenario(t, "training")
		s := scenariotest.Simulate(c)
		tt.state(&s)
		j := judge.Judge(c, s)
		found := false
		for _, f := range j.Figures {
			if f.Name == tt.figure {
				found = true
				if f.Value != tt.want || f.Limit != tt.limit {
					t.Errorf("%s: %s is %g of %g, want %g of %g", name, f.Name, f.Value, f.Limit, tt.want, tt.limit)
				}
			}
		}
		if !found || j.Verdict != check.Failed {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Figures)
		}
	}
	c := scenariotest.Scenario(t, "training")
	s := scenariotest.Simulate(c)
	s.Nodes = s.Nodes[:len(s.Nodes)-1]
	for _, f := range judge.Judge(c, s).Figures {
		if f.Name == judge.FigureNodes && (f.Value != float64(len(c.Nodes)-1) || f.Limit != float64(len(c.Nodes))) {
			t.Errorf("%g of %g nodes", f.Value, f.Limit)
		}
	}
}

// A DaemonSet without its selector is expected on the nodes of its class alone.
func TestADaemonSetIsExpectedOnItsClass(t *testing.T) {
	t.Parallel()
	components := scenariotest.Components()
	workload(components, "efa").Pod.Affinity = nil
	e := judge.Expect(scenariotest.Build(t, "training", components, scenariotest.Nodes()))
	for _, w := range e.Workloads {
		if w.Name == "efa" && (w.Pods != 4 || !slices.Equal(w.Nodes, []string{"gpu-0", "gpu-1", "gpu-2", "gpu-3"})) {
			t.Errorf("%d pods on %q", w.Pods, w.Nodes)
		}
	}
	if len(e.Workloads) < 10 || len(e.Flaws) != 1 {
		t.Errorf("%d workloads, flaws %+v", len(e.Workloads), e.Flaws)
	}
	one := scenariotest.Build(t, "training", components, scenariotest.Nodes())
	one.Nodes = slices.DeleteFunc(one.Nodes, func(n scenario.Node) bool { return n.Name == "system-1" })
	if flaws := judge.Expect(one).Flaws; len(flaws) != 1 || !strings.Contains(flaws[0].Message, "selects system node system-0, but its pods are of class accelerated") {
		t.Errorf("one node of another class: %+v", flaws)
	}
	workload(components, "efa").Pod.NodeSelector = map[string]string{scenariotest.NodeType: "system"}
	other := judge.Expect(scenariotest.Build(t, "training", components, scenariotest.Nodes()))
	if !slices.ContainsFunc(other.Flaws, func(f check.Finding) bool {
		return strings.Contains(f.Message, "selects system nodes system-0, system-1")
	}) ||
		slices.ContainsFunc(other.Flaws, func(f check.Finding) bool {
			return strings.HasSuffix(f.Suspect, "/efa") && strings.Contains(f.Message, "selects no node of the recipe")
		}) {
		t.Errorf("nodes of another class alone: %+v", other.Flaws)
	}
}

// Where the probe fits no node, a control that is a copy of its pod fails for the same reason. A control that was not run, or
// that is a copy of another pod, has a cause of its own.
func TestAControlWithACauseOfItsOwn(t *testing.T) {
	t.Parallel()
	n := scenariotest.Nodes()
	n.Accelerated.Arch = "arm64"
	c := scenariotest.Build(t, "training", scenariotest.Components(), n)
	for control, state := range map[string]func(*snapshot.State){
		scenario.HalfGPUs: func(s *snapshot.State) { account(s, scenario.HalfGPUs).Trouble = "exceeded quota" },
		scenario.DropSelector: func(s *snapshot.State) {
			pend(pods(s, scenario.DropSelector)[0], "0/1009 nodes are available: 1 Insufficient cpu.")
		},
	} {
		s := scenariotest.Simulate(c)
		following := func() bool {
			for _, f := range judge.Judge(c, s).Findings {
				if f.Suspect == "control/"+control && !strings.Contains(f.Message, ": caused by ") {
					return false
				}
			}
			return true
		}
		if !following() {
			t.Errorf("%s has a cause of its own before it has a defect", control)
		}
		if state(&s); following() {
			t.Errorf("%s has no cause of its own", control)
		}
	}
}
