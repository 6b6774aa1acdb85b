package judge

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Names of the figures of a judgement.
const (
	FigurePods      = "pods bound"
	FigureWorkloads = "workloads"
	FigureNodes     = "nodes"
	FigureControls  = "controls failed as they must"
)

// Judge decides whether what was seen of a cell is what has to be there: every
// workload and pod, each bound to a node of its class, Running and Ready; every
// DaemonSet on exactly its nodes; nothing that is not of the recipe; and every
// control refused, for its reason. What was not at rest is never a pass.
func Judge(c scenario.Cell, s snapshot.State) check.Judgement {
	if j, done := nothing(c, s); done {
		return j
	}
	v := newView(c, s)
	if !s.Quiet {
		return v.restless()
	}
	v.look()
	j := v.conclude()
	j.Figures = v.figures()
	return j
}

func (v *view) look() {
	for _, f := range v.flaws {
		v.flaw(f)
	}
	v.judgeNodes()
	for _, e := range v.expected {
		v.judgeAccount(e)
		if e.Kind == scenario.DaemonSet {
			v.judgeDaemonSet(e)
		} else {
			v.judgeReplicas(e)
		}
	}
	v.judgeGrants()
	v.judgeGang()
	v.judgeStrangers()
	for _, control := range v.cell.Controls {
		v.judgeControl(control)
	}
	v.found.gather()
}

// nothing is the judgement where there is nothing to be judged.
func nothing(c scenario.Cell, s snapshot.State) (check.Judgement, bool) {
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
		return fail("components", "the recipe schedules nothing: none of its components has a workload", "add components, or their footprints; a recipe without pods can't be tested")
	case s.Recipe != "" && c.Recipe != "" && s.Recipe != c.Recipe:
		return fail("state", fmt.Sprintf("what was seen is of the recipe %s, not of %s", s.Recipe, c.Recipe), "run the test again")
	case !s.Quiet:
		return check.Judgement{}, false
	case s.ResourceVersion == "":
		return check.CouldNotObserve("what was seen was not read at one resourceVersion: it may be of different times"), true
	case len(s.Nodes) == 0:
		return fail("nodes", "no node was seen", "run the test again; if it stays, the control plane's log in the evidence says why nodes are not made")
	case pods == 0 || len(s.Workloads) == 0:
		return fail("workloads", fmt.Sprintf("%d workloads and %d pods were seen: nothing was scheduled", len(s.Workloads), pods), "run the test again; if it stays, what the API server refused is in the evidence")
	default:
		return check.Judgement{}, false
	}
}

// restless is the judgement of what did not come to rest: not observed, with what
// was wrong when the waiting ended.
func (v *view) restless() check.Judgement {
	why := v.state.Restless
	if why == "" {
		why = "it is not known what kept on"
	}
	return check.CouldNotObserve("the controllers did not come to rest: "+why, check.Finding{
		Suspect: "control plane", Message: "did not come to rest: " + why,
		Remedy: "run the test again; if it stays, look for what undoes what another does: two workloads on one port, a label that is set and taken away",
	})
}

func (v *view) conclude() check.Judgement {
	list := v.found.list()
	switch {
	case len(list) > 0:
		first := list[0]
		reason := first.Suspect + " " + first.Message
		if more := len(v.found.causes) - 1; more > 0 {
			reason = fmt.Sprintf("%s (and %d more)", reason, more)
		}
		return check.Fail(reason, list...)
	case len(v.unseen) > 0:
		return check.CouldNotObserve(v.unseen[0])
	}
	workloads, pods := v.count()
	return check.Pass(fmt.Sprintf("%d workloads with %d pods are where they belong on %d nodes, and %d controls failed as they must",
		workloads, pods, len(v.cell.Own(footprint.Any)), v.controlsThatApply()))
}

// count is how many workloads and pods the recipe has, the probe's with them.
func (v *view) count() (workloads, pods int) {
	for _, e := range v.expected {
		workloads++
		pods += e.Pods
	}
	return workloads, pods
}

func (v *view) controlsThatApply() int {
	n := 0
	for _, control := range v.cell.Controls {
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
		figure(FigureNodes, "nodes", len(v.nodes), len(v.cell.Nodes)),
		figure(FigureControls, "controls", v.controlsThatApply()-v.passed, v.controlsThatApply()),
	}
}
