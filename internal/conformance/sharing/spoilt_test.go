package sharing

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of what is shared is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01"}}).Judge, whole().observations(t), checktest.Harmless{})
}
