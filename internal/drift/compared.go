package drift

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
)

// compared is a gate whose figures are compared with the baseline.
type compared struct {
	check.Check
	profile  *profile.Profile
	baseline Baseline
	bands    bands
}

// Lowered implements plan.Lowers: a loss in what has no figure in the baseline is judged by the gate's limits alone.
func (c compared) Lowered() []string {
	if l, ok := c.Check.(plan.Lowers); ok {
		return l.Lowered()
	}
	return nil
}

// Judge implements check.Check: the gate's own criterion first.
func (c compared) Judge(obs []check.Observation) check.Judgement {
	j := c.Check.Judge(obs)
	if j.Verdict != check.Passed {
		return j
	}
	var b check.Builder
	b.Figure(j.Figures...)
	var ids []string
	for _, o := range obs {
		ids = append(ids, o.ID)
	}
	if c.Name() == collective.Name {
		c.baseline.differ(&b, ofNCCL(obs), true, ids)
	}
	limits := c.bands.Gates[c.Name()]
	now := measure(c.Name(), obs, c.profile)
	n := 0
	for _, was := range c.baseline.Figures {
		if was.Gate != c.Name() {
			continue
		}
		n++
		i := slices.IndexFunc(now, func(f Figure) bool { return f.Name == was.Name })
		if i < 0 {
			b.Unobserved("", was.Name, "record a baseline of this site: firstlight accept, or compare with a run that has the same sizes (--against)", "%s is in the baseline of run %s and was not observed again", was.Name, c.baseline.Run)
			continue
		}
		diff := compareFigure(was, now[i], limits, c.bands.Deviations)
		b.Figure(figureOf(was, diff, c.baseline.Run))
		if diff.band == bandExpected {
			continue
		}
		if late := stalled(obs); late > 0 && diff.is-diff.was <= late {
			b.Unobserved("", "firstlight's own machine", "run firstlight drift again when its machine is idle",
				"%s is %.1f ms longer than in run %s, but firstlight was not scheduled for up to %.1f ms while it measured", was.Name, diff.is-diff.was, c.baseline.Run, late)
			continue
		}
		if diff.band == bandUnclear {
			b.Unobserved("", was.Name, "stop other load, or raise collective.repetitions of the profile, workloads.training.steps or workloads.inference.requests of the site, and run firstlight accept and firstlight drift again",
				"%s is %.4g %s, %.1f %% worse than the %.4g %s of run %s: replace begins at %.0f %%, but the values vary so much that up to %.1f %% may be noise", was.Name, diff.is, was.Unit, 100*diff.worse, diff.was, was.Unit, c.baseline.Run, 100*limits.Replace, 100*diff.noise)
			continue
		}
		f := check.NewFinding("", "cluster", "if a node is named, repair it first; else look for a change of all nodes since the baseline: fabric errors, clocks and power limits, temperature, other load; then run firstlight drift again",
			"%s: %s is %.4g %s, %.1f %% worse than the %.4g %s of run %s; tolerated are %.1f %%", diff.band, was.Name, diff.is, was.Unit, 100*diff.worse, diff.was, was.Unit, c.baseline.Run, 100*diff.tolerance)
		f.Observations = ids
		b.AddFailed(f)
	}
	if n == 0 {
		b.Unobserved("", "baseline", "compare with a run that has figures of this gate (--against)", "the baseline of run %s has no figure of gate %s", c.baseline.Run, c.Name())
	}
	return b.Judgement(fmt.Sprintf("as in run %s (figures compared: %d); %s", c.baseline.Run, n, j.Reason))
}

// figureOf is the figure with the worst value that is tolerated.
func figureOf(was Figure, c change, run string) check.Figure {
	f := check.Figure{Name: was.Name, Value: c.is, Unit: was.Unit, Relation: "<=", Limit: c.was * (1 + c.tolerance), Source: fmt.Sprintf("the median %.4g %s of run %s and the tolerance %.1f %%", c.was, was.Unit, run, 100*c.tolerance)}
	if was.HigherIsBetter {
		f.Relation, f.Limit = ">=", c.was*(1-c.tolerance)
	}
	return f
}
