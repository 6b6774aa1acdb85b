package gang

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance"
)

// TestRules: an unreadable observation proves nothing.
func TestRules(t *testing.T) {
	t.Parallel()
	s := good()
	checktest.Rules(t, (&Check{nodes: s.room.Nodes, gpus: 8, scheduler: "auto"}).Judge, s.observations(t), []checktest.Rule{
		checktest.When("room that can not be read is not known", checktest.Set(kindCapacity, `.gpusPerPod`, 7.2)).Unobserved("", ""),
		checktest.When("a gang that is too large is read as it was recorded", checktest.Set(kindTooLarge, `.small.exist`, 0.5)).Unobserved("", ""),
		checktest.When("a gang that fits is read as it was recorded", checktest.Set(kindFits, `.large.exist`, 3.6)).Unobserved("", ""),
	})
}

func TestGangsHaveThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	c := &Check{deps: conformance.Deps{PodPatches: []map[string]any{{}}}}
	if s := c.spec("gang-fits", 2, 1, Capacity{}); len(s.Patches) != 1 {
		t.Errorf("%+v", s)
	}
}
