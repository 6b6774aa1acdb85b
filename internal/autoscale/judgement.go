package autoscale

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check: passed when every hop of the chain is, or does
// not concern it.
func (c *Chain) Judge(obs []check.Observation) check.Judgement {
	w := fold(obs)
	if w.problem != "" {
		return check.NotObserved(w.problem, check.Finding{
			Suspect: "check " + Name, Message: w.problem, Remedy: "run the chain again: firstlight autoscale",
		})
	}
	j := check.Judgement{Figures: w.figures()}
	var verdicts []check.Verdict
	var lines []string
	for _, h := range w.hops {
		verdicts = append(verdicts, h.Verdict)
		if h.Verdict == check.Failed || h.Verdict == check.Unobserved {
			lines = append(lines, fmt.Sprintf("hop %s: %s", h.Hop, h.Reason))
			j.Findings = append(j.Findings, h.Findings...)
		}
	}
	j.Verdict = check.Overall(verdicts)
	j.Reason = strings.Join(lines, "; ")
	if j.Verdict == check.Passed {
		j.Reason = w.summary()
	}
	return j
}

// summary is the chain in a line.
func (w *decoded) summary() string {
	text := "every hop was observed"
	if up, ok := w.path(snapshot.PhaseUp); ok {
		text = fmt.Sprintf("%s up in %s", w.setup.Metric.Name, seconds(up))
	}
	if down, ok := w.path(snapshot.PhaseDown); ok {
		text += fmt.Sprintf(", down in %s", seconds(down))
	}
	if w.setup.Pool.Stay {
		return text + "; the pods created for the load are deleted, and no node was created"
	}
	return fmt.Sprintf("%s; every node created for the load is deleted", text)
}

// figures are how long the paths took against the worst case of the settings
// found. To be slower is shown and fails nothing.
func (w *decoded) figures() []check.Figure {
	var out []check.Figure
	for _, p := range []struct{ phase, name string }{{snapshot.PhaseUp, "up path"}, {snapshot.PhaseDown, "down path"}} {
		took, ok := w.path(p.phase)
		if !ok {
			continue
		}
		f := check.Figure{Name: p.name, Value: took.Seconds(), Unit: "s"}
		if worst := w.worst(p.phase); worst > 0 {
			f.Limit, f.Relation, f.Source = worst.Seconds(), check.Expected, "worst case of the settings found; a slower hop does not fail"
		}
		out = append(out, f)
	}
	if whole := w.last.At.Sub(w.setup.Began); !w.setup.Began.IsZero() && whole > 0 {
		out = append(out, check.Figure{Name: "whole chain", Value: whole.Seconds(), Unit: "s"})
	}
	return out
}

// path is how long a phase took, from its mark to its last hop, when all of it
// happened.
func (w *decoded) path(phase string) (time.Duration, bool) {
	began, last := w.began(phase), time.Time{}
	for _, h := range w.hops {
		if h.Phase != phase || h.Verdict == check.NotApplicable {
			continue
		}
		if h.Verdict != check.Passed {
			return 0, false
		}
		if !ends(h.Hop) && h.At.After(last) {
			last = h.At
		}
	}
	return last.Sub(began), !began.IsZero() && last.After(began)
}

// ends reports whether a hop checks a state and has no duration of its own.
func ends(hop string) bool { return hop == snapshot.HopBystanders }

// worst is the sum of a phase's budgets.
func (w *decoded) worst(phase string) time.Duration {
	var sum time.Duration
	for _, h := range w.hops {
		if h.Phase == phase && h.Verdict != check.NotApplicable {
			sum += budgetOf(h.Hop, w.setup)
		}
	}
	return sum
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
