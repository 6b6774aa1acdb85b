package recommended

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// Every field of driver versions is demanded, or it is said here why not.
func TestEveryFieldOfDrivers(t *testing.T) {
	t.Parallel()
	checktest.EveryField(t, "spoilt-drivers", (&Drivers{nodes: []string{"gpu-01", "gpu-02"}}).Judge, healthyDrivers().observations(t), checktest.Harmless{
		"said twice is not more":                                                    {`.* : the first twice`},
		"another device of the node says the same":                                  {`driver-attributes.* (: without the last|.node: .*)`},
		"it names what is looked at, for people":                                    {`driver-attributes.* .device: .*`, `driver-daemonsets.* .(app|does|name): .*`},
		"CUDA is an attribute of the devices; the label is compared for the driver": {`driver-labels.* .cuda: .*`},
	})
}
