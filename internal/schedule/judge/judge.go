package judge

import (
	"cmp"
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Figures of a judgement.
const (
	FigurePods      = "pods bound"
	FigureWorkloads = "workloads"
	FigureNodes     = "nodes"
	FigureControls  = "controls failed as required"
)

// Judge compares a snapshot with the expected state: every workload and pod exists and is
// bound to a node of its class, every DaemonSet covers exactly its nodes, there is no
// object outside the recipe, and every control was rejected for its reason. A snapshot
// that did not converge is unobserved.
func Judge(c scenario.Scenario, s snapshot.State) check.Judgement {
	if j, done := judgeInputs(c, s); done {
		return j
	}
	v := newView(c, s)
	if !s.Converged {
		return v.notConverged()
	}
	v.judgeAll()
	j := v.judgement()
	j.Figures = v.figures()
	return j
}

func (v *view) judgeAll() {
	for _, f := range v.flaws {
		v.judgeFlaw(f)
	}
	v.judgeNodes()
	for _, e := range v.expected {
		v.judgeWorkload(e)
		if e.Kind == scenario.DaemonSet {
			v.judgeDaemonSet(e)
		} else {
			v.judgeReplicas(e)
		}
	}
	v.judgeGrants()
	v.judgeGang()
	v.judgeUnexpectedObjects()
	for _, control := range v.scenario.Controls {
		v.judgeControl(control)
	}
	v.found.groupByTrait()
}

// judgeInputs is the judgement for a scenario or snapshot that cannot be judged.
func judgeInputs(c scenario.Scenario, s snapshot.State) (check.Judgement, bool) {
	pods, workloads := 0, 0
	for _, component := range c.Components {
		workloads += len(component.Workloads)
	}
	for _, p := range s.Pods {
		if p.Component != snapshot.OwnerBarrier {
			pods++
		}
	}
	fail := func(suspect, text, remedy string) (check.Judgement, bool) {
		return check.Fail(text, check.Finding{Suspect: suspect, Message: text, Remedy: remedy}), true
	}
	switch {
	case len(c.Own(footprint.Any)) == 0:
		return fail("nodes", "the recipe has no nodes to schedule on", "add profiles to nodes/PROVIDER/")
	case workloads == 0:
		return fail("components", "the recipe schedules no pods: none of its components has a workload", "add components, or their footprints; a recipe without pods cannot be tested")
	case s.Recipe != "" && c.Recipe != "" && s.Recipe != c.Recipe:
		return fail("state", fmt.Sprintf("the snapshot is of recipe %s, want %s", s.Recipe, c.Recipe), "run the test again")
	case !s.Converged:
		return check.Judgement{}, false
	case s.ResourceVersion == "":
		return check.NotObserved("the snapshot has no resourceVersion: its lists may be of different times"), true
	case len(s.Nodes) == 0:
		return fail("nodes", "no node was observed", "run the test again; if it persists, see the control plane's log in the evidence")
	case pods == 0 || len(s.Workloads) == 0:
		return fail("workloads", fmt.Sprintf("%d workloads and %d pods were observed: nothing was scheduled", len(s.Workloads), pods), "run the test again; if it persists, see in the evidence what the API server rejected")
	default:
		return check.Judgement{}, false
	}
}

// notConverged is the unobserved judgement of a snapshot that did not converge.
func (v *view) notConverged() check.Judgement {
	why := cmp.Or(v.state.NotConverged, "reason unknown")
	return check.NotObserved("the controllers did not converge: "+why, check.Finding{
		Suspect: "control plane", Message: "did not converge: " + why,
		Remedy: "run the test again; if it persists, look for two writers that undo each other: two workloads on one port, a label that is set and removed",
	})
}

func (v *view) judgement() check.Judgement {
	list := v.found.list()
	switch {
	case len(list) > 0:
		first := list[0]
		reason := first.Suspect + " " + first.Message
		if more := len(v.found.causes) - 1; more > 0 {
			reason = fmt.Sprintf("%s (and %d more)", reason, more)
		}
		return check.Fail(reason, list...)
	case len(v.unobserved) > 0:
		return check.NotObserved(v.unobserved[0])
	}
	workloads, pods := v.count()
	return check.Pass(fmt.Sprintf("%d workloads with %d pods are placed correctly on %d nodes, %d controls failed as required",
		workloads, pods, len(v.scenario.Own(footprint.Any)), v.controlsThatApply()))
}

// count is the number of workloads and pods of the recipe, including the probe.
func (v *view) count() (workloads, pods int) {
	for _, e := range v.expected {
		workloads++
		pods += e.Pods
	}
	return workloads, pods
}

func (v *view) controlsThatApply() int {
	n := 0
	for _, control := range v.scenario.Controls {
		if control.NotApplicable == "" {
			n++
		}
	}
	return n
}

func (v *view) figures() []check.Figure {
	workloads, pods := v.count()
	bound, there := 0, 0
	for _, e := range v.expected {
		own := v.podsOf(e.Expected)
		bound += len(own) - len(waiting(own))
		if len(v.workloads[e.owner()]) > 0 || len(own) > 0 {
			there++
		}
	}
	figure := func(name, unit string, is, want int) check.Figure {
		return check.Figure{Name: name, Value: float64(is), Unit: unit, Limit: float64(want), Relation: "==", Source: "the recipe's components and profiles"}
	}
	return []check.Figure{
		figure(FigurePods, "pods", bound, pods),
		figure(FigureWorkloads, "workloads", there, workloads),
		figure(FigureNodes, "nodes", len(v.nodes), len(v.scenario.Nodes)),
		figure(FigureControls, "controls", v.controlsThatApply()-v.controlsPassed, v.controlsThatApply()),
	}
}
