package access

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field is demanded of what pods see, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01"}}).Judge, healthy().observations(t), checktest.Harmless{})
}
