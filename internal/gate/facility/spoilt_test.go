package facility_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/plan"
)

// Every field of a facility in order is demanded, or this list states why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	s, p := room()
	g := facility.New(s, p, facility.Deps{})
	checktest.EveryField(t, "spoilt", func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, look(t, s, p, reading(), nil), checktest.Harmless{
		"it names the observed object, for people":                    {`.* .signOff.(by|reference|role): another text`},
		"more watts, or fewer than usual, are power":                  {`.* .chassis.watts: .*`},
		"said twice is not more":                                      {`.* .pdus.mains: the first twice`},
		"a PDU with one mains left says that it is on":                {`.* .pdus.mains: without the last`},
		"not every controller reports health; mains and state decide": {`.* .pdus.health: (left out|"")`},
	})
}
