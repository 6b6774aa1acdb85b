package autoscaling

import (
	"math"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := c.chain(nil).Judge(obs)
	setups := check.OfKind(obs, snapshot.KindSetup)
	if len(setups) == 0 {
		return j // the chain reports it
	}
	setup, err := check.Decode[snapshot.Setup](setups[0])
	if err != nil {
		return j // the chain reports it
	}
	switch {
	case setup.Pool.Stay && !c.existing:
		return check.NotObserved("these observations are of a chain that adds no nodes, so of another check")
	case !setup.Pool.Stay && c.existing:
		return check.NotObserved("these observations are of a chain that adds nodes, so of another check")
	case !c.existing:
		return j
	}
	observed, changed := targetChanges(setup, obs)
	switch {
	case len(changed) > 0:
		j.Verdict, j.Findings = check.Failed, append(changed, j.Findings...)
		j.Reason = changed[0].Message
	case j.Verdict == check.Passed && !observed:
		return check.NotObserved("the HPA was never observed, so its target is unknown")
	case j.Verdict == check.Passed && setup.Scale.GPUs < 1:
		// The requirement is about pods that use accelerators.
		j.Verdict, j.Reason = check.Unobserved, submission.PartlyShown+j.Reason+"; the replicas held no GPUs: "+setup.Scale.Why
	}
	j.Figures = append(j.Figures, check.Figure{Name: "GPUs per replica", Value: float64(setup.Scale.GPUs), Unit: "GPUs"})
	return j
}

// targetChanges compares the HPA's target in every observed state with the one it was
// created with, and reports the first difference.
func targetChanges(setup snapshot.Setup, obs []check.Observation) (observed bool, changed []check.Finding) {
	for _, o := range check.OfKind(obs, snapshot.KindHop) {
		st, err := check.Decode[snapshot.State](o)
		if err != nil || st.HPA == nil {
			continue
		}
		observed = true
		if want := setup.Scale.Target; len(changed) == 0 && !(math.Abs(st.HPA.Target-want) <= 1e-6*math.Abs(want)) {
			changed = append(changed, check.NewFinding(o.ID, st.HPA.String(), "find what changes the HPA: an admission policy or another controller",
				"%s has target %g at hop %s, but was created with %g: the metric must move, not the target", st.HPA.String(), st.HPA.Target, o.Target, want))
		}
	}
	return observed, changed
}
