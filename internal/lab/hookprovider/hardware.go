package hookprovider

import (
	"fmt"
	"strconv"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/world"
)

type hardware struct {
	kind  string
	nodes int
}

func (h hardware) args() []string {
	return []string{"--hardware=" + h.kind, "--nodes=" + strconv.Itoa(h.nodes)}
}

// hardwareOf returns simulated machines with the GPUs of a row, the default ones if they have as many; one
// if the row states no node count.
func hardwareOf(row config.Reservation) (hardware, error) {
	for _, kind := range append([]string{world.DefaultHardware}, world.HardwareKinds()...) {
		hw, err := world.LoadHardware(kind)
		if err != nil {
			return hardware{}, fmt.Errorf("find hardware for %s: %w", row.Name, err)
		}
		if hw.Node.GPUs == row.GPUCount {
			return hardware{kind: kind, nodes: max(row.NodeCount, 1)}, nil
		}
	}
	return hardware{}, fmt.Errorf("find hardware for %s: no simulated machine has %d GPUs: want one of %v", row.Name, row.GPUCount, world.HardwareKinds())
}
