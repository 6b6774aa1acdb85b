package nvidiasmi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ClockQuery asks for what ParseClocks reads: cheap enough to be asked again and again.
func ClockQuery() []string {
	return []string{"nvidia-smi", "--query-gpu=uuid,utilization.gpu,clocks.sm,power.draw,power.limit", "--format=csv,noheader"}
}

// Clock is how a GPU runs at one moment; nil is what it does not say.
type Clock struct {
	UUID       string `json:"uuid"`
	Util       *int64 `json:"util,omitempty"`       // %
	SMClockMHz *int64 `json:"smClockMHz,omitempty"` // MHz
	// PowerW is what it draws, PowerLimitW what it may draw.
	PowerW      *float64 `json:"powerW,omitempty"`
	PowerLimitW *float64 `json:"powerLimitW,omitempty"`
}

// ParseClocks reads the output of ClockQuery: a line a GPU.
func ParseClocks(data []byte) ([]Clock, error) {
	return guard.Parse("nvidia-smi --query-gpu", func() ([]Clock, error) { return parseClocks(data) })
}

func parseClocks(data []byte) ([]Clock, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("read nvidia-smi --query-gpu: the output is no UTF-8 text")
	}
	var out []Clock
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxLinkLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || mentions(line, lost) {
			continue
		}
		fields := strings.Split(line, ", ")
		if len(fields) != 5 || !strings.HasPrefix(fields[0], "GPU-") {
			return nil, fmt.Errorf("read nvidia-smi --query-gpu: line %d: %.80q: expected \"GPU-..., 100 %%, 1755 MHz, 512.30 W, 700.00 W\"", n, line)
		}
		var r reader
		c := Clock{UUID: fields[0], Util: r.integer("utilization.gpu", fields[1], "%"), SMClockMHz: r.integer("clocks.sm", fields[2], "MHz"),
			PowerW: r.number("power.draw", fields[3], "W"), PowerLimitW: r.number("power.limit", fields[4], "W")}
		if r.err != nil {
			return nil, fmt.Errorf("read nvidia-smi --query-gpu: line %d: %w", n, r.err)
		}
		out = append(out, c)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read nvidia-smi --query-gpu: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("read nvidia-smi --query-gpu: no GPU in the output")
	}
	return out, nil
}
