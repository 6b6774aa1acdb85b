package metrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of samples and loads is demanded, or it is said here why not.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	checktest.EveryField(t, "spoilt", c.Judge, healthy(c).observations(t), checktest.Harmless{
		"the last observation of a kind decides": {`.*: twice`},
		"it names what is looked at, for people": {`gpu-metrics.* .gpus.samples.[A-Z_]+.instance: .*`, `gpu-metrics.* .gpus.uuid: .*`, `gpu-load.* .pods.node: .*`, `gpu-metrics@after .gpus.gpu: .*`},
		"fresher than it was":                    {`gpu-metrics@(before|after) .(now|gpus.samples.[A-Z_]+.at): .*`},
		"a value that a GPU without load has":    {`gpu-metrics@(before|after) .gpus.samples.[A-Z_]+.value: .*`},
		"more GPUs are free":                     {`gpu-usage.* .nodes.*: .*`},
	})
}
