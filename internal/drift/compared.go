package drift

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
)

// compared is a gate whose figures are compared with the baseline.
type compared struct {
	check.Check
	profile    *profile.Profile
	objectives inference.Objectives
	baseline   Baseline
	bands      bands
}

// Lowered implements plan.Lowers: a loss in what has no figure in the baseline is judged by the gate's limits alone.
func (c compared) Lowered() []string {
	if l, ok := c.Check.(plan.Lowers); ok {
		return l.Lowered()
	}
	return nil
}

// Judge implements check.Check: the gate's own criterion first. A gate that fails because steps are not steady does
// not name the step from which they are slower.
func (c compared) Judge(obs []check.Observation) check.Judgement {
	j := c.Check.Judge(obs)
	r := &comparison{compared: c, obs: obs}
	for _, o := range obs {
		r.ids = append(r.ids, o.ID)
	}
	switch {
	case j.Verdict == check.Passed:
		r.Figure(j.Figures...)
		r.compare()
		return r.Judgement(fmt.Sprintf("as in run %s (figures compared: %d); %s", c.baseline.Run, r.count, j.Reason))
	case j.Verdict == check.Failed && c.Name() == training.Name:
		r.slowdown()
		j.Findings = slices.Concat(j.Findings, r.Findings().Failed)
	}
	return j
}

// comparison compares the figures of one gate.
type comparison struct {
	check.Builder
	compared
	obs []check.Observation
	ids []string
	// now are the figures of obs.
	now []Figure
	// reported are the names of figures with a finding, except those at single sizes.
	reported []string
	// count is the number of figures of the baseline.
	count int
}

func (r *comparison) compare() {
	if r.Name() == collective.Name {
		r.baseline.differ(&r.Builder, ofNCCL(r.obs), true, r.ids)
	}
	r.now = measure(r.Name(), r.obs, basis{profile: r.profile, objectives: r.objectives, fromBytes: r.bands.Sizes.FromBytes})
	recorded := r.recorded()
	r.count = len(recorded)
	for _, was := range recorded {
		if was.Bytes == 0 && r.figure(was) {
			r.reported = append(r.reported, was.Name)
		}
	}
	r.sizes(curves(recorded, r.now))
	if r.Name() == training.Name {
		r.slowdown()
	}
	if r.count == 0 {
		r.Unobserved("", "baseline", "compare with a run that has figures of this gate (--against)", "the baseline of run %s has no figure of gate %s", r.baseline.Run, r.Name())
		return
	}
	r.unrecorded(recorded)
}

// recorded are the figures of the baseline of this gate.
func (r *comparison) recorded() []Figure {
	return slices.DeleteFunc(slices.Clone(r.baseline.Figures), func(f Figure) bool { return f.Gate != r.Name() })
}

const (
	remedyMissing = "record a baseline of this site: firstlight accept, or compare with a run that has the same sizes, objectives and client (--against)"
	remedyNoise   = "stop other load, or raise collective.repetitions of the profile, workloads.training.steps or workloads.inference.requests of the site, " +
		"and run firstlight accept and firstlight drift again"
	remedyWorse = "if a node is named, repair it first; else look for a change of all nodes since the baseline: " +
		"fabric errors, clocks and power limits, temperature, other load; then run firstlight drift again"
	remedyStall = "run firstlight drift again when its machine is idle"
)

// figure compares a figure with the baseline, and reports whether it has a finding.
func (r *comparison) figure(was Figure) bool {
	i := slices.IndexFunc(r.now, func(f Figure) bool { return f.Name == was.Name })
	if i < 0 {
		r.Unobserved("", was.Name, remedyMissing, "%s is in the baseline of run %s and was not observed again", was.Name, r.baseline.Run)
		return true
	}
	if was.Requests > 0 && r.now[i].Requests > 0 {
		return r.share(was, r.now[i])
	}
	limits, run := r.bands.Gates[r.Name()], r.baseline.Run
	diff := compareFigure(was, r.now[i], limits, r.bands.Deviations)
	r.Figure(figureOf(was, diff, run))
	late := stalled(r.obs)
	switch {
	case diff.band == bandExpected:
		return false
	case late > 0 && diff.is-diff.was <= late:
		r.Unobserved("", "firstlight's own machine", remedyStall,
			"%s is %.1f ms longer than in run %s, but firstlight was not scheduled for up to %.1f ms while it measured", was.Name, diff.is-diff.was, run, late)
	case diff.band == bandUnclear:
		r.Unobserved("", was.Name, remedyNoise,
			"%s is %.4g %s, %.1f %% worse than the %.4g %s of run %s: replace begins at %.0f %%, but the values vary so much that up to %.1f %% may be noise",
			was.Name, diff.is, was.Unit, 100*diff.worse, diff.was, was.Unit, run, 100*limits.Replace, 100*diff.noise)
	default:
		r.fail("cluster", remedyWorse, "%s: %s is %.4g %s, %.1f %% worse than the %.4g %s of run %s; tolerated are %.1f %%",
			diff.band, was.Name, diff.is, was.Unit, 100*diff.worse, diff.was, was.Unit, run, 100*diff.tolerance)
	}
	return true
}

// fail adds a finding of all observations of the gate.
func (r *comparison) fail(suspect, remedy, format string, args ...any) {
	f := check.NewFinding("", suspect, remedy, format, args...)
	f.Observations = r.ids
	r.AddFailed(f)
}

// unrecorded notes figures that the baseline does not have, as that of an earlier version.
func (r *comparison) unrecorded(recorded []Figure) {
	var names []string
	sizes := 0
	for _, f := range r.now {
		switch {
		case slices.ContainsFunc(recorded, func(was Figure) bool { return was.Name == f.Name }):
		case f.Bytes > 0:
			sizes++
		default:
			names = append(names, f.Name)
		}
	}
	if sizes > 0 {
		names = append(names, fmt.Sprintf("busbw at single message sizes (%d)", sizes))
	}
	if len(names) > 0 {
		r.Note("", "baseline", "accept the cluster again, so that its baseline has them: firstlight accept",
			"not in the baseline of run %s, and so not compared: %s", r.baseline.Run, check.JoinNames(names, 4))
	}
}

// figureOf is the figure with the worst value that is tolerated.
func figureOf(was Figure, c change, run string) check.Figure {
	f := check.Figure{Name: was.Name, Value: c.is, Unit: was.Unit, Relation: "<=", Limit: c.was * (1 + c.tolerance)}
	f.Source = fmt.Sprintf("the median %.4g %s of run %s and the tolerance %.1f %%", c.was, was.Unit, run, 100*c.tolerance)
	if was.HigherIsBetter {
		f.Relation, f.Limit = ">=", c.was*(1-c.tolerance)
	}
	return f
}
