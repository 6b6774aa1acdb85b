package judge

import (
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of the state at the end of a phase, spoilt alone. The state holds what hops of
// all phases need, so that most of it may change without harm to those of one phase; the
// tables say which hop demands what. TestRules has the rules.
func TestEveryField(t *testing.T) {
	t.Parallel()
	for _, p := range snapshot.Chain() {
		if p.Name == snapshot.PhaseClean { // of its one hop TestReasons has all
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			o, err := check.Observation{Kind: "state", Target: p.Name}.WithFigures(until(p.Name))
			if err != nil {
				t.Fatal(err)
			}
			judge := func(obs []check.Observation) check.Judgement {
				st, _, err := check.One[snapshot.State](obs, "state")
				if err != nil {
					return check.NotObserved(err.Error())
				}
				j := check.Pass(p.Name)
				for _, hop := range p.Hops {
					r := Hop(hop, setup(), st)
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
			checktest.EveryField(t, p.Name, judge, []check.Observation{o}, checktest.Harmless{
				"other hops read it, or there is more of the same": {`state@.*`},
			}, checktest.Sample(4))
		})
	}
}
