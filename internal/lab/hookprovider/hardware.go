package hookprovider

import (
	"fmt"
	"strconv"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/world"
)

// hardware is what a lab simulates.
type hardware struct {
	kind  string
	nodes int
}

func (h hardware) args() []string {
	return []string{"--hardware=" + h.kind, "--nodes=" + strconv.Itoa(h.nodes)}
}

// hardwareOf finds machines with as many GPUs as a row wants, and as many of them; one where
// the row states no number.
func hardwareOf(row config.Reservation) (hardware, error) {
	for _, kind := range world.HardwareKinds() {
		hw, err := world.LoadHardware(kind)
		if err != nil {
			return hardware{}, fmt.Errorf("find hardware for %s: %w", row.Name, err)
		}
		if hw.Node.GPUs == row.GPUCount {
			return hardware{kind: kind, nodes: max(row.NodeCount, 1)}, nil
		}
	}
	return hardware{}, fmt.Errorf("find hardware for %s: no machine that labs simulate has %d GPUs; there are %v", row.Name, row.GPUCount, world.HardwareKinds())
}
