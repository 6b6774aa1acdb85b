package judge

import (
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of the state at the end of a phase is demanded by a hop of it, or it is said
// here why not. The outcome names each hop that does not pass, with its suspects.
func TestEveryField(t *testing.T) {
	t.Parallel()
	for _, p := range seen.Chain() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			o, err := check.Observation{Kind: "state", Target: p.Name}.WithFigures(until(p.Name))
			if err != nil {
				t.Fatal(err)
			}
			judge := func(obs []check.Observation) check.Judgement {
				st, _, err := check.One[seen.State](obs, "state")
				if err != nil {
					return check.CouldNotObserve(err.Error())
				}
				j := check.Pass(p.Name)
				for _, hop := range p.Hops {
					r := Hop(hop, setup(), st)
					if r.Verdict == check.Passed && r.At.IsZero() {
						t.Errorf("hop %s passed without a time", hop)
					}
					if r.Verdict == check.Passed {
						continue
					}
					j.Verdict = check.Failed
					for _, f := range r.Findings {
						j.Findings = append(j.Findings, check.Finding{Suspect: hop + " " + string(r.Verdict) + " " + f.Suspect})
					}
				}
				return j
			}
			checktest.EveryField(t, p.Name, judge, []check.Observation{o}, checktest.Harmless{})
		})
	}
}
