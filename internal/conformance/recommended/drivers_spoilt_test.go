package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// The verdict depends on every field of driver versions, except for those that are listed here
// with the reason.
func TestEveryFieldOfDrivers(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt-drivers", (&Drivers{nodes: []string{"gpu-01", "gpu-02"}}).Judge, healthyDrivers().observations(t), checktest.Harmless{
		"a duplicate adds nothing":                                                  {`.* : the first twice`},
		"another device of the node has the same":                                   {`driver-attributes.* (: without the last|.node: .*)`},
		"it names the subject for the reader":                                       {`driver-attributes.* .device: .*`, `driver-daemonsets.* .(app|does|name): .*`},
		"CUDA is an attribute of the devices; the label is compared for the driver": {`driver-labels.* .cuda: .*`},
	})
}
