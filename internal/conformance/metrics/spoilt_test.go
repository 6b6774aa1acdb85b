package metrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestEveryField: the verdict depends on every field of samples and loads, except for those
// that are listed here with the reason.
func TestEveryField(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	checktest.EveryField(t, "spoilt", c.Judge, healthy(c).observations(t), checktest.Harmless{
		"the last observation of a kind decides": {`.*: twice`},
		"it names the subject for the reader":    {`gpu-metrics.* .gpus.samples.[A-Z_]+.instance: .*`, `gpu-metrics.* .gpus.uuid: .*`, `gpu-load.* .pods.node: .*`, `gpu-metrics@after .gpus.gpu: .*`},
		"a newer sample":                         {`gpu-metrics@(before|after) .(now|gpus.samples.[A-Z_]+.at): .*`},
		"a value that a GPU without load has":    {`gpu-metrics@(before|after) .gpus.samples.[A-Z_]+.value: .*`},
		"more GPUs are free":                     {`gpu-usage.* .nodes.*: .*`},
	})
}
