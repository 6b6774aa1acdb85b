package sandbox

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of two kernels is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	obs := []check.Observation{observation(t, kindClasses, "cluster", []class{own("gvisor")}), observation(t, kindPods, "gvisor", isolated("gvisor"))}
	checktest.EveryField(t, "spoilt", (&Check{}).Judge, obs, checktest.Harmless{})
}
