package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// reconciled: of a resource was made what had to be, each of what the one before it
// owns, and it came to its end.
func (j judge) reconciled(target string) (reconcileFigures, bool) {
	what := "the resource " + target
	o, so, ok := one[reconcileFigures](j.conclusions, j.obs, kindReconcile, target, what)
	if !ok {
		return so, false
	}
	suspect := j.operator.Resource.Resource + " " + so.Name
	if so.Refused != "" {
		j.fail(o, suspect, "a valid one was refused: "+so.Refused, "see what the message names; a webhook that can't be reached refuses everything")
		return so, false
	}
	if c, ok := condition(so, j.operator.Failed); ok {
		j.fail(o, suspect, fmt.Sprintf("it is %s: %s %s", c.Type, c.Reason, c.Message), "read the log of its pods and the events of its namespace")
		return so, false
	}
	if why := j.lineage(so); why != "" {
		j.fail(o, suspect, why, "see the log of the controller of "+j.operator.Title+" and the events of the run's namespace")
		return so, false
	}
	if _, done := condition(so, j.operator.Done); !done || so.Ended == nil {
		j.fail(o, suspect, fmt.Sprintf("it is not %s, for which it had %s (%s): %s", j.operator.Done, so.Deadline, so.Trouble, pods(so)),
			"see whether its pods end; if they do, the log of the controller of "+j.operator.Title)
		return so, false
	}
	if last := so.Levels[len(so.Levels)-1]; !slices.ContainsFunc(last.Objects, func(p childState) bool { return p.Phase == "Succeeded" }) {
		j.fail(o, suspect, fmt.Sprintf("it says that it is %s, and none of its pods has succeeded: %s", j.operator.Done, pods(so)),
			"see the log of the controller of "+j.operator.Title)
		return so, false
	}
	took := so.Ended.Sub(so.Created)
	j.figures = append(j.figures, check.Figure{
		Name: "resource to its end, " + target, Value: took.Seconds(), Unit: "s", Limit: so.Deadline.Seconds(), Relation: "<=",
		Source: "operator " + j.operator.Name + ": deadline",
	})
	if target == targetPlain {
		j.show("%s reconciled to %s in %s", j.operator.Resource.Resource, chain(so), took.Round(time.Second/10))
	}
	return so, true
}

// lineage says what is not as it has to be among what was made; empty when all is.
func (j judge) lineage(so reconcileFigures) string {
	if so.UID == "" {
		return "it has no UID: whose the children are can't be told"
	}
	if len(so.Levels) != len(j.operator.Children) {
		return fmt.Sprintf("%d of %d levels of children were looked at", len(so.Levels), len(j.operator.Children))
	}
	parents, before := map[string]bool{so.UID: true}, so.Name
	for i, level := range so.Levels {
		if level.Resource != j.operator.Children[i].Resource {
			return fmt.Sprintf("level %d is of %s, not of %s", i+1, level.Resource, j.operator.Children[i].Resource)
		}
		if len(level.Objects) == 0 {
			return fmt.Sprintf("no %s were made of %s within %s %s", level.Resource, before, so.Deadline, so.Trouble)
		}
		next := map[string]bool{}
		for _, c := range level.Objects {
			if c.UID == "" || !parents[c.Owner] {
				return fmt.Sprintf("%s %s is owned by %q, by nothing that was made of the resource", level.Resource, c.Name, c.Owner)
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

// chain tells what was made: "1 jobsets, 1 jobs, 1 pods".
func chain(so reconcileFigures) string {
	var parts []string
	for _, l := range so.Levels {
		parts = append(parts, fmt.Sprintf("%d %s", len(l.Objects), l.Resource))
	}
	return strings.Join(parts, ", ")
}

// pods tells how they are.
func pods(so reconcileFigures) string {
	if len(so.Levels) == 0 {
		return "it has none"
	}
	var parts []string
	for _, p := range so.Levels[len(so.Levels)-1].Objects {
		parts = append(parts, fmt.Sprintf("pod %s is %s on %q", p.Name, p.Phase, p.Node))
	}
	return strings.Join(parts, ", ")
}

// survived: a resource in the making came to its end although the controller was
// killed, and another has taken its place.
func (j judge) survived(before controllerFigures, there bool) {
	o, kill, ok := one[disruptionFigures](j.conclusions, j.obs, kindDisruption, "", "the controller's loss")
	if !ok {
		return
	}
	if !kill.Run {
		if len(check.OfKind(j.obs, kindReconcile)) > 1 { // it was to be, and there was nothing to interrupt
			j.reconciled(targetKilled)
			j.missing(o, "the controller's loss", "it was not killed: "+kill.NotRun, again)
			return
		}
		j.notRun = "its controller killed in mid-reconcile (" + kill.NotRun + ")"
		return
	}
	suspect := "controller of " + j.operator.Title
	switch {
	case len(kill.Killed) == 0:
		j.missing(o, suspect, "what was killed is not told", again)
		return
	case !kill.Begun || kill.Ended:
		j.missing(o, suspect, "it was killed when nothing was in the making: that proves nothing", again)
		return
	}
	so, ok := j.reconciled(targetKilled)
	if !ok {
		return
	}
	if !so.Ended.After(kill.At) {
		j.missing(o, suspect, "the resource had ended before it was killed: that proves nothing", again)
		return
	}
	ao, after, ok := one[controllerFigures](j.conclusions, j.obs, kindController, targetAfter, "the controller's successor")
	if !ok || !there {
		return
	}
	if why := succeeded(before, after); why != "" {
		j.missing(ao, suspect, "that another has taken its place was not seen: "+why, again)
		return
	}
	j.figures = append(j.figures, check.Figure{Name: "end after the kill", Value: so.Ended.Sub(kill.At).Seconds(), Unit: "s"})
	j.show("%s killed in mid-reconcile, the resource ended %s later", strings.Join(kill.Killed, ", "), so.Ended.Sub(kill.At).Round(time.Second/10))
}
