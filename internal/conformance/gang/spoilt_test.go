package gang

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of the proof, except for those that are
// listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	s := good()
	checktest.EveryField(t, "spoilt", (&Check{nodes: s.room.Nodes, gpus: 8, scheduler: "auto"}).Judge, s.observations(t), checktest.Harmless{
		"a duplicate adds nothing":                            {`gang-scheduler.* : the first twice`},
		"it names the subject for the reader":                 {`gang-scheduler.* .(api|name): .*`, `room.* .(gpusPerPod|usage): .*`, `room.* .nodes: the first twice`},
		"pods that were bound or refused exist":               {`gang-.* .(small|large|largeAfter).exist: .*`},
		"one refusal is a decision, of the group or of a pod": {`gang-.* .(small|large|largeAfter).(refused|groupRefused): .*`},
		"JSON omits zero and false":                           {`gang-too-large.* .(large|largeAfter).bound: (left out|-1)`},
	})
}
