package nvidia

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ClockQuery is the command whose output ParseClocks parses. It is cheap enough for polling.
func ClockQuery() []string {
	return []string{"nvidia-smi", "--query-gpu=uuid,utilization.gpu,clocks.sm,power.draw,power.limit", "--format=csv,noheader"}
}

// Clock is a sample of the load of a GPU; a figure is nil if the GPU does not report it.
type Clock struct {
	UUID        string   `json:"uuid"`
	Util        *int64   `json:"util,omitempty"`       // %
	SMClockMHz  *int64   `json:"smClockMHz,omitempty"` // MHz
	PowerW      *float64 `json:"powerW,omitempty"`
	PowerLimitW *float64 `json:"powerLimitW,omitempty"`
}

// ParseClocks parses the output of ClockQuery: one line per GPU.
func ParseClocks(data []byte) ([]Clock, error) {
	return guard.Parse("nvidia-smi --query-gpu", func() ([]Clock, error) { return parseClocks(data) })
}

func parseClocks(data []byte) (out []Clock, err error) {
	err = eachLine("nvidia-smi --query-gpu", data, func(line string) error {
		fields := strings.Split(line, ", ")
		if len(fields) != 5 || !strings.HasPrefix(fields[0], "GPU-") {
			return fmt.Errorf("%.80q: expected \"GPU-..., 100 %%, 1755 MHz, 512.30 W, 700.00 W\"", line)
		}
		var r smiReader
		out = append(out, Clock{UUID: fields[0], Util: r.integer("utilization.gpu", fields[1], "%"), SMClockMHz: r.integer("clocks.sm", fields[2], "MHz"),
			PowerW: r.number("power.draw", fields[3], "W"), PowerLimitW: r.number("power.limit", fields[4], "W")})
		return r.err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, errors.New("read nvidia-smi --query-gpu: no GPU in the output")
	}
	return out, nil
}
