package gang

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of the proof is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	s := good()
	checktest.EveryField(t, "spoilt", (&Check{nodes: s.room.Nodes, gpus: 8, scheduler: "auto"}).Judge, s.observations(t), checktest.Harmless{})
}
