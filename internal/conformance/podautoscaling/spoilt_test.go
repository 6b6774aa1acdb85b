package podautoscaling

import (
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/seentest"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of the chain that stays on its nodes is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", New(nil, nil, Deps{}).Judge, observations(t, seentest.StaySetup(), nil), checktest.Harmless{})
}
