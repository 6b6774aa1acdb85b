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
		// Drivers before 515 name the columns by the RDMA devices, which rdma-core renames ("rocep65s0f0"),
		// and which other vendors name otherwise ("bnxt_re0", "rdmap16s27").
		"adapters of other names": {"\tGPU0\tGPU1\trocep65s0f0\tbnxt_re0\tmlx5_0\tCPU Affinity\tNUMA Affinity\n" +
			"GPU0\t X \tNV12\tPXB\tSYS\tNODE\t0-31\t0\nGPU1\tNV12\t X \tSYS\tPXB\tSYS\t32-63\t1\nrocep65s0f0\tPXB\tSYS\t X \tSYS\tSYS\t\t\n", []nvidia.GPUTopology{
			{Index: 0, Paths: map[string]string{"GPU1": "NV12", "rocep65s0f0": "PXB", "bnxt_re0": "SYS", "mlx5_0": "NODE"}, Affinity: "0-31 0"},
			{Index: 1, Paths: map[string]string{"GPU0": "NV12", "rocep65s0f0": "SYS", "bnxt_re0": "PXB", "mlx5_0": "SYS"}, Affinity: "32-63 1"},
		}},
		// sgl-project/sglang issue 11208 (4 x GB200, driver 570.172).
		"GPUs with memory nodes": {"        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID\nGPU0     X      NV18    SYS     0-71    0,3-9,11-17             2\nGPU1    NV18     X      SYS     72-143  1,19-25,27-33           18\nNIC0    SYS     SYS      X\n\nNIC Legend:\n\n  NIC0: ibp3s0\n", []nvidia.GPUTopology{
			{Index: 0, Paths: map[string]string{"GPU1": "NV18", "ibp3s0": "SYS"}, Affinity: "0-71 0,3-9,11-17 2"},
			{Index: 1, Paths: map[string]string{"GPU0": "NV18", "ibp3s0": "SYS"}, Affinity: "72-143 1,19-25,27-33 18"},
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
		"a header cut short":     "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV18\tPIX\t0-55\t0\nGPU1\tNV18\t X \tSYS\t0-55\t0\n",
		"a header without GPU1":  "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tPIX\t0-55\nGPU1\tNV18\tSYS\t0-55\n",
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
