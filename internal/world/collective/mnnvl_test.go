package collective

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

// twoRacks is a run over two NVLink domains of two nodes.
func twoRacks(t *testing.T) Run {
	t.Helper()
	hw, err := world.LoadHardware("gb200-nvl72-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Fabric: hw.Fabric, CUDA: "13.0", MinBytes: 8 << 20, MaxBytes: 16 << 30, Repetitions: 1, Debug: true, Seed: 1}
	for i := range 4 {
		n := Node{Host: fmt.Sprintf("tray-%d", i), Address: fmt.Sprintf("10.0.0.%d", i+1), NVLS: true, GPUDirect: true, Slow: 1, Cluster: "58d72354-d167-41a4-b3e7-327dc0246b7d"}
		if i > 1 {
			n.Cluster = "4963e406-e1f5-4a7a-a19a-7d1bd763fec4"
		}
		for d := range 4 {
			n.Devices = append(n.Devices, Device{Index: d, BusID: hw.GPU.BusIDs[d], Product: hw.GPU.Product})
			n.HCAs = append(n.HCAs, HCA{Name: fmt.Sprintf("mlx5_%d", d), Gbps: 400})
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

// The lines are those of NCCL on GB200 in public logs: src/init.cc, src/mnnvl.cc and src/transport/p2p.cc.
func TestNVLinkBetweenNodes(t *testing.T) {
	t.Parallel()
	const fabric = "MNNVL busId 0x801000 fabric UUID a44167d15423d758.7d6b24c07d32e7b3 cliqueId 0x7ffe state 3 healthMask 0xaa"
	const over = " via P2P/MNNVL"
	for name, tt := range map[string]struct {
		change   func(*Run)
		has, not []string
		from, to float64 // GB/s
	}{
		"two racks": {nil, []string{fabric, "MNNVL 1 cliqueId 7ffe cliqueSize 8 cliqueRank 7", "rank 15 nRanks 16 nNodes 2 localRanks 8 localRank 7 MNNVL 1",
			"0[0] -> 4[0]" + over, "0[0] -> 1[1]" + over, "4[0] -> 8[0] [send] via NET/IB/0/GDRDMA", "4[0] -> 8[0] [receive] via NET/IB/0/GDRDMA"}, []string{"P2P/CUMEM", "MNNVL 0"}, 800, 890},
		"one rack": {func(r *Run) { r.Nodes = r.Nodes[:2] }, []string{fabric, "cliqueSize 8 cliqueRank 0", "nNodes 1 localRanks 8 localRank 7 MNNVL 1"}, []string{"via NET", "MNNVL 0"}, 800, 890},
		"one node": {func(r *Run) { r.Nodes = r.Nodes[:1] }, []string{fabric, "nNodes 1 localRanks 4 localRank 3 MNNVL 0", "P2P/CUMEM"}, []string{"cliqueSize", over}, 600, 700},
		"off": {func(r *Run) { r.Nodes = r.Nodes[:2]; r.Nodes[0].MNNVLOff, r.Nodes[1].MNNVLOff = true, true },
			[]string{fabric, "NCCL_MNNVL_ENABLE set by environment to 0.", "nNodes 2 localRanks 4 localRank 3 MNNVL 0", "0[0] -> 4[0] [send] via NET/IB/0/GDRDMA"}, []string{"cliqueSize", over}, 180, 200},
		"off, another program": {func(r *Run) {
			r.Nodes = r.Nodes[:2]
			r.Nodes[0].MNNVLOff, r.Nodes[1].MNNVLOff = true, true
			r.Program, _ = ProgramIn("all_gather_perf")
		}, nil, nil, 150, 200},
		"no domain": {func(r *Run) { r.Nodes = r.Nodes[:1]; r.Nodes[0].Cluster = "" }, nil, []string{"fabric UUID"}, 600, 700},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := twoRacks(t)
			if tt.change != nil {
				tt.change(&r)
			}
			out, _ := write(t, r)
			for _, want := range tt.has {
				if !strings.Contains(out, want) {
					t.Errorf("no %q", want)
				}
			}
			for _, stray := range tt.not {
				if strings.Contains(out, stray) {
					t.Errorf("%q is printed", stray)
				}
			}
			if got := r.Plateau(); got < tt.from || got > tt.to {
				t.Errorf("%.1f GB/s, want %.0f to %.0f", got, tt.from, tt.to)
			}
		})
	}
}
