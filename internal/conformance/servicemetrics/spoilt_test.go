package servicemetrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what Prometheus and the API say is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", theCheck(t).Judge, healthy().observations(t), checktest.Harmless{})
}
