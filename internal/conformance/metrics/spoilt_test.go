package metrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of samples and loads is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	checktest.EveryField(t, "spoilt", c.Judge, healthy(c).observations(t), checktest.Harmless{})
}
