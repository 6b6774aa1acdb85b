package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// reconciled requires that a resource has children at every level, each owned by the level
// before, and has ended successfully.
func (j *judge) reconciled(target string) (reconcileFigures, bool) {
	so, id, ok := require[reconcileFigures](j, kindReconcile, target, "the resource "+target)
	if !ok {
		return so, false
	}
	suspect, log := j.operator.Resource.Resource+" "+so.Name, "the log of the controller of "+j.operator.Title
	if so.Refused != "" {
		j.Fail(id, suspect, "see what the message names; an unreachable webhook refuses everything", "a valid one was refused: %s", so.Refused)
		return so, false
	}
	if c, ok := condition(so, j.operator.Failed); ok {
		j.Fail(id, suspect, "read the log of its pods and the events of its namespace", "it is %s: %s %s", c.Type, c.Reason, c.Message)
		return so, false
	}
	if so.Unread != "" {
		j.Unobserved(id, suspect, "make the API server answer this kubeconfig, then run the check again", "how it ended was not observed: %s", so.Unread)
		return so, false
	}
	if problem := j.lineage(so); problem != "" {
		j.Fail(id, suspect, "see "+log+" and the events of the run's namespace", "%s", problem)
		return so, false
	}
	if _, done := condition(so, j.operator.Done); !done || so.Ended == nil {
		j.Fail(id, suspect, "see whether its pods end; if they do, see "+log, "it is not %s after %s (%s): %s", j.operator.Done, so.deadline(), so.Trouble, podStates(so))
		return so, false
	}
	if last := so.Levels[len(so.Levels)-1]; !slices.ContainsFunc(last.Objects, func(p childState) bool { return p.Phase == "Succeeded" }) {
		j.Fail(id, suspect, "see "+log, "it is %s, but none of its pods succeeded: %s", j.operator.Done, podStates(so))
		return so, false
	}
	took := so.Ended.Sub(so.Created)
	j.Figure(check.Figure{
		Name: "resource to its end, " + target, Value: took.Seconds(), Unit: "s", Limit: so.deadline().Seconds(), Relation: "<=",
		Source: "operator " + j.operator.Name + ": deadline",
	})
	if target == targetPlain {
		var levels []string
		for _, l := range so.Levels {
			levels = append(levels, fmt.Sprintf("%d %s", len(l.Objects), l.Resource))
		}
		j.show("%s reconciled to %s in %s", j.operator.Resource.Resource, strings.Join(levels, ", "), took.Round(time.Second/10))
	}
	return so, true
}

// lineage is the first deviation among the children; empty without any.
func (j *judge) lineage(so reconcileFigures) string {
	if so.UID == "" {
		return "it has no UID, so the owner of its children is unknown"
	}
	if len(so.Levels) != len(j.operator.Children) {
		return fmt.Sprintf("%d of %d levels of children were observed", len(so.Levels), len(j.operator.Children))
	}
	parents, before := map[string]bool{so.UID: true}, so.Name
	for i, level := range so.Levels {
		if level.Resource != j.operator.Children[i].Resource {
			return fmt.Sprintf("level %d has %s, want %s", i+1, level.Resource, j.operator.Children[i].Resource)
		}
		if len(level.Objects) == 0 {
			return fmt.Sprintf("no %s were created for %s within %s %s", level.Resource, before, so.deadline(), so.Trouble)
		}
		next := map[string]bool{}
		for _, c := range level.Objects {
			if c.UID == "" || !parents[c.Owner] {
				return fmt.Sprintf("%s %s is owned by %q, not by a child of the resource", level.Resource, c.Name, c.Owner)
			}
			next[c.UID] = true
		}
		parents, before = next, level.Objects[0].Name
	}
	return ""
}

func condition(so reconcileFigures, kind string) (metav1.Condition, bool) {
	for _, c := range so.Conditions {
		if c.Type == kind && c.Status == metav1.ConditionTrue {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

func podStates(so reconcileFigures) string {
	if len(so.Levels) == 0 {
		return "no pods"
	}
	var out []string
	for _, p := range so.Levels[len(so.Levels)-1].Objects {
		out = append(out, fmt.Sprintf("pod %s is %s on %q", p.Name, p.Phase, p.Node))
	}
	return strings.Join(out, ", ")
}

// survived requires that a resource ended although the controller was killed while it was
// being reconciled, and that another controller has taken over.
func (j *judge) survived(before controllerFigures, observed bool) {
	const loss = "the controller's loss"
	kill, id, ok := require[disruptionFigures](j, kindDisruption, "", loss)
	if !ok {
		return
	}
	if !kill.Run {
		if len(check.OfKind(j.obs, kindReconcile)) > 1 { // planned, but nothing could be interrupted
			j.reconciled(targetKilled)
			j.Unobserved(id, loss, again, "it was not killed: %s", kill.NotRun)
			return
		}
		j.notRun = "its controller killed in mid-reconcile (" + kill.NotRun + ")"
		return
	}
	suspect := "controller of " + j.operator.Title
	switch {
	case len(kill.Killed) == 0 || slices.Contains(kill.Killed, ""):
		j.Unobserved(id, suspect, again, "the killed pods were not recorded")
		return
	case !kill.Begun || kill.Ended:
		j.Unobserved(id, suspect, again, "it was killed while no resource was being reconciled, which proves nothing")
		return
	}
	so, ok := j.reconciled(targetKilled)
	if !ok {
		return
	}
	if !so.Ended.After(kill.At) {
		j.Unobserved(id, suspect, again, "the resource had ended before it was killed, which proves nothing")
		return
	}
	after, afterID, ok := require[controllerFigures](j, kindController, targetAfter, "the controller's successor")
	if !ok || !observed {
		return
	}
	if problem := noSuccessor(before, after); problem != "" {
		j.Unobserved(afterID, suspect, again, "no successor was observed: %s", problem)
		return
	}
	later := so.Ended.Sub(kill.At)
	j.Figure(check.Figure{Name: "end after the kill", Value: later.Seconds(), Unit: "s"})
	j.show("%s killed in mid-reconcile, the resource ended %s later", strings.Join(kill.Killed, ", "), later.Round(time.Second/10))
}
