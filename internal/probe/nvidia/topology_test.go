package nvidia_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// The layout of driver 550 and later: an underlined header, tabs, three last columns.
const topology = "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
	"GPU0\t X \tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A\n" +
	"GPU1\tNV18\t X \tSYS\tPIX\t56-111,168-223\t1\t\tN/A\n" +
	"NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t\n" +
	"NIC1\tSYS\tPIX\tSYS\t X \t\t\t\t\n" +
	"\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n" +
	"\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_bond_0\n\n"

func TestParseTopology(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want []nvidia.GPUTopology
	}{
		"two GPUs and two adapters": {topology, []nvidia.GPUTopology{
			{Index: 0, Paths: map[string]string{"GPU1": "NV18", "mlx5_0": "PIX", "mlx5_bond_0": "SYS"}, Affinity: "0-55,112-167 0 N/A"},
			{Index: 1, Paths: map[string]string{"GPU0": "NV18", "mlx5_0": "SYS", "mlx5_bond_0": "PIX"}, Affinity: "56-111,168-223 1 N/A"},
		}},
		"one GPU, spaces": {"        GPU0    CPU Affinity    NUMA Affinity\nGPU0     X      0-11            N/A\n\nLegend:\n\n  X    = Self\n", []nvidia.GPUTopology{
			{Index: 0, Paths: map[string]string{}, Affinity: "0-11 N/A"},
		}},
		"adapters in the header by name": {"\tGPU0\tmlx5_0\tCPU Affinity\nGPU0\t X \tPHB\t0-251\nmlx5_0\tPHB\t X \t\n", []nvidia.GPUTopology{
			{Index: 0, Paths: map[string]string{"mlx5_0": "PHB"}, Affinity: "0-251"},
		}},
	} {
		got, err := nvidia.ParseTopology([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, in := range map[string]string{
		"nothing":                "",
		"no NVML":                "Failed to initialize NVML: Driver/library version mismatch\n",
		"a header only":          "\tGPU0\tCPU Affinity\n",
		"a row too short":        strings.Replace(topology, "\tNV18\tPIX\tSYS\t0-55,112-167\t0\t\tN/A", "", 1),
		"a row that is not here": strings.Replace(topology, "GPU1\tNV18", "GPU7\tNV18", 1),
		"a row twice":            topology + "GPU0\t X \tNV18\tPIX\tSYS\t0-55\n",
		"no X for itself":        strings.Replace(topology, "GPU0\t X ", "GPU0\tNV18", 1),
	} {
		if got, err := nvidia.ParseTopology([]byte(in)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

func FuzzParseTopology(f *testing.F) {
	f.Add([]byte(topology))
	f.Fuzz(func(t *testing.T, data []byte) {
		gpus, err := nvidia.ParseTopology(data)
		if err == nil && len(gpus) == 0 {
			t.Error("no GPU and no error")
		}
	})
}
