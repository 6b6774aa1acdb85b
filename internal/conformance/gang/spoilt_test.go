package gang

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of the proof is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	s := good()
	checktest.EveryField(t, "spoilt", (&Check{nodes: s.room.Nodes, gpus: 8, scheduler: "auto"}).Judge, s.observations(t), checktest.Harmless{
		"said twice is not more":                              {`gang-scheduler.* : the first twice`},
		"it names what is looked at, for people":              {`gang-scheduler.* .(api|name): .*`, `room.* .(gpusPerPod|nodes|usage): .*`},
		"pods that were bound or refused exist":               {`gang-.* .(beside|large|largeAfter).exist: .*`},
		"one refusal is a decision, of the group or of a pod": {`gang-.* .(beside|large|largeAfter).(refused|groupRefused): .*`},
		"zero and false are what is left out in JSON":         {`gang-too-large.* .(large|largeAfter).bound: (left out|-1)`},
	})
}
