package drivers

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of driver versions is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt", (&Check{nodes: []string{"gpu-01", "gpu-02"}}).Judge, whole().observations(t), checktest.Harmless{})
}
