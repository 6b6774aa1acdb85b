package podautoscaling

import (
	"fmt"
	"math"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := c.chain(nil).Judge(obs)
	setup, err := setupOf(obs)
	if err != nil {
		return j // which says so, too
	}
	if !setup.Pool.Stay {
		return check.NotObserved("these are the observations of a chain with nodes that come: of another check")
	}
	seenHPA, moved := targets(setup, obs)
	switch {
	case len(moved) > 0:
		j.Verdict, j.Findings = check.Failed, append(moved, j.Findings...)
		j.Reason = moved[0].Message
	case j.Verdict == check.Passed && !seenHPA:
		return check.NotObserved("the HPA was never seen, so its target may have been anything")
	case j.Verdict == check.Passed && setup.Scale.Why != "":
		j.Reason += "; the replicas held no GPUs: " + setup.Scale.Why
	}
	j.Figures = append(j.Figures, check.Figure{Name: "GPUs a replica", Value: float64(setup.Scale.GPUs), Unit: "GPUs"})
	return j
}

func setupOf(obs []check.Observation) (snapshot.Setup, error) {
	for _, o := range check.OfKind(obs, snapshot.KindSetup) {
		return check.Decode[snapshot.Setup](o) //nolint:wrapcheck // names the observation
	}
	return snapshot.Setup{}, fmt.Errorf("no observation %s", snapshot.KindSetup)
}

// targets holds the HPA's target, in every state in which the HPA was seen, against
// what it was made with.
func targets(setup snapshot.Setup, obs []check.Observation) (seenHPA bool, moved []check.Finding) {
	for _, o := range check.OfKind(obs, snapshot.KindHop) {
		st, err := check.Decode[snapshot.State](o)
		if err != nil || st.HPA == nil {
			continue
		}
		seenHPA = true
		if want := setup.Scale.Target; len(moved) == 0 && !(math.Abs(st.HPA.Target-want) <= 1e-6*math.Abs(want)) {
			moved = append(moved, check.Finding{
				Suspect: st.HPA.String(), Message: fmt.Sprintf("%s has the target %g at hop %s and was made with %g: it has to be the metric that moves", st.HPA.String(), st.HPA.Target, o.Target, want),
				Remedy: "find out what changes the HPA: an admission policy, another controller", Observations: ids(o),
			})
		}
	}
	return seenHPA, moved
}

func ids(o check.Observation) []string {
	if o.ID == "" {
		return nil
	}
	return []string{o.ID}
}
