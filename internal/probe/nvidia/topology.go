package nvidia

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// GPUTopology is the row of one GPU in the matrix of nvidia-smi topo -m.
type GPUTopology struct {
	Index int `json:"index"`
	// Paths is the connection type to each other device: "GPU1" to "NV18", "mlx5_0" to "PIX".
	Paths map[string]string `json:"paths"`
	// Affinity is the text of the last columns: CPUs, NUMA node and, with some drivers, the
	// NUMA node of the GPU: "0-55 0 N/A".
	Affinity string `json:"affinity"`
}

var (
	ansi      = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	topoGPU   = regexp.MustCompile(`^GPU(\d{1,4})$`)
	nicLegend = regexp.MustCompile(`^\s*(NIC\d{1,4}): (\S{1,60})\s*$`)
)

// affinityColumn is the first word after the devices of the header: "CPU Affinity".
const affinityColumn = "CPU"

const maxTopoDevices = 512

// TopologyCommand is the command whose output ParseTopology parses.
func TopologyCommand() []string { return []string{"nvidia-smi", "topo", "-m"} }

// ParseTopology parses the output of nvidia-smi topo -m: one row per GPU. Adapter names are
// from the legend below the matrix.
func ParseTopology(data []byte) ([]GPUTopology, error) {
	return guard.Parse("nvidia-smi topo -m", func() ([]GPUTopology, error) { return parseTopology(string(data)) })
}

func parseTopology(text string) ([]GPUTopology, error) {
	var devices []string
	rows := map[int][]string{}
	legend := map[string]string{}
	for line := range strings.Lines(ansi.ReplaceAllString(text, "")) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case devices == nil:
			devices = header(fields)
		case topoGPU.MatchString(fields[0]):
			index, err := strconv.Atoi(fields[0][len("GPU"):])
			if err != nil || rows[index] != nil {
				return nil, fmt.Errorf("read nvidia-smi topo -m: duplicate row %.20s", fields[0])
			}
			rows[index] = fields[1:]
		default:
			if m := nicLegend.FindStringSubmatch(line); m != nil {
				legend[m[1]] = m[2]
			}
		}
	}
	if len(devices) == 0 || len(rows) == 0 {
		return nil, errors.New("read nvidia-smi topo -m: no matrix; expected a header with GPU0 and one row per GPU")
	}
	end := slices.Index(devices, affinityColumn)
	switch {
	case end < 0:
		return nil, fmt.Errorf("read nvidia-smi topo -m: header %.80q: expected devices and CPU Affinity", strings.Join(devices, " "))
	case end > maxTopoDevices:
		return nil, fmt.Errorf("read nvidia-smi topo -m: %d devices: want at most %d", end, maxTopoDevices)
	}
	return topologyRows(devices[:end], rows, legend)
}

// header returns the columns of the header line; nil for another line. The devices are GPUs, and adapters
// as NIC0 or, with drivers before 515, by their names, which are any.
func header(fields []string) []string {
	if !topoGPU.MatchString(fields[0]) {
		return nil
	}
	return fields
}

func topologyRows(devices []string, rows map[int][]string, legend map[string]string) ([]GPUTopology, error) {
	var out []GPUTopology
	for at, device := range devices {
		m := topoGPU.FindStringSubmatch(device)
		if m == nil {
			continue
		}
		index, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, fmt.Errorf("read nvidia-smi topo -m: invalid GPU index %q", m[1])
		}
		cells := rows[index]
		if len(cells) < len(devices) || cells[at] != "X" {
			return nil, fmt.Errorf("read nvidia-smi topo -m: row %s has %d columns, expected %d devices and an X for itself", device, len(cells), len(devices))
		}
		row := GPUTopology{Index: index, Paths: map[string]string{}, Affinity: strings.Join(cells[len(devices):], " ")}
		for i, other := range devices {
			if i == at {
				continue
			}
			if name := legend[other]; name != "" {
				other = name
			}
			row.Paths[other] = cells[i]
		}
		out = append(out, row)
	}
	if len(out) != len(rows) {
		return nil, fmt.Errorf("read nvidia-smi topo -m: %d rows of GPUs, and %d GPUs in the header", len(rows), len(out))
	}
	return out, nil
}
