package nccl_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

const good = `2026-11-21T01:02:03.5Z node1:101:101 [0] NCCL INFO NCCL version 2.28.7+cuda13.0
node1:101:101 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
node1:101:140 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. No plugin found.
node1:101:140 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>
node2:201:240 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.2<0>
node1:101:140 [0] NCCL INFO Using network IB
node1:101:140 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'
node1:101:140 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7 - Init START
node1:101:140 [0] NCCL INFO NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)
node1:101:140 [0] NCCL INFO Channel 00/16 :    0   1
node1:101:140 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA
node1:101:140 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA
node1:101:140 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/1(1)/GDRDMA(PCI)/Shared
node2:201:240 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [receive] via NET/IB/1
node1:101:140 [0] NCCL INFO Channel 01/0 : 0[0] -> 2[1] via P2P/CUMEM/read
node1:101:140 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1
node1:101:140 [0] NCCL INFO Connected NVLS tree
node1:101:140 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7 - Init COMPLETE
node1:901:940 [0] NCCL INFO NVLS multicast support is not available on dev 0
node1:901:940 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 0
node1:901:940 [0] NCCL INFO ncclCommInitRankConfig comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7 - Init COMPLETE
[2026-11-21 01:02:03] node2:201:240 [0] transport/net_ib/p2p.cc:712 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<1> with status=12 opcode=0
# not ours
`

func no() *bool { v := false; return &v }

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := nccl.ParseLog(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	hcas := [][]nccl.HCA{{{Index: 0, Name: "mlx5_0", Port: 1, Layer: "IB"}, {Index: 1, Name: "mlx5_1", Port: 1, Layer: "IB"}}}
	want := nccl.Log{
		Lines: 22, Versions: []string{"2.28.7+cuda13.0"},
		Hosts: []nccl.Host{
			{Name: "node1", HCAs: hcas, Networks: []string{"IB"}},
			{Name: "node2", HCAs: hcas},
		},
		Ranks: []nccl.Rank{{Rank: 0, Host: "node1", NRanks: 2, BusID: "1b000", Inits: 2, Rings: 2, RingGDR: no(), NVLS: no()}},
		Channels: []nccl.Channel{
			{Host: "node2", From: 0, To: 1, Direction: "receive", Transport: "NET/IB", Device: 1, Count: 1},
			{Host: "node1", From: 0, To: 1, Direction: "send", Transport: "NET/IB", Device: 0, GDR: true, Count: 2},
			{Host: "node1", From: 0, To: 1, Direction: "send", Transport: "NET/IB", Device: 1, GDR: true, Count: 1},
			{Host: "node1", From: 0, To: 2, Transport: "P2P/CUMEM/read", Device: -1, Count: 1},
		},
		Warnings: []nccl.Warning{{Host: "node2", Source: "transport/net_ib/p2p.cc:712", Text: "NET/IB : Got completion from peer 10.0.0.1<1> with status=12 opcode=0"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Lines of a run by SHARP (NVIDIA/nccl-tests issue 311, src/transport/coll_net.cc of NVIDIA/nccl; before 2.18 without
// the connection's number).
func TestParseCollNet(t *testing.T) {
	t.Parallel()
	const text = `gpu34:23654:23684 [0] NCCL INFO CollNet 00/0 : 0 [receive] via COLLNET/SHARP/1/GDRDMA
gpu34:23654:23684 [0] NCCL INFO CollNet 00/0 : 0 [send] via COLLNET/SHARP/1/GDRDMA(PCI)
gpu34:23654:23684 [0] NCCL INFO CollNet 01/0 : 0 [send] via COLLNET/SHARP/1/GDRDMA(PCI)
gpu36:15433:15499 [0] NCCL INFO CollNet 00 : 2 [receive] via COLLNET/SHARP/5
gpu36:15433:15499 [0] NCCL INFO CollNet 00/0 : 70000000 [receive] via COLLNET/SHARP/5
gpu36:15433:15499 [0] NCCL INFO CollNet Chains [0] -1->2->-1
`
	got, err := nccl.ParseLog(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []nccl.Channel{
		{Host: "gpu34", From: 0, To: -1, Direction: "receive", Transport: "COLLNET/SHARP", Device: 1, GDR: true, Count: 1},
		{Host: "gpu34", From: 0, To: -1, Direction: "send", Transport: "COLLNET/SHARP", Device: 1, GDR: true, Count: 2},
		{Host: "gpu36", From: 2, To: -1, Direction: "receive", Transport: "COLLNET/SHARP", Device: 5, Count: 1},
	}
	if diff := cmp.Diff(want, got.CollNet); diff != "" || got.Lines != 6 || got.Channels != nil {
		t.Errorf("%d lines, channels %v: %s", got.Lines, got.Channels, diff)
	}
}

func TestParseNetworks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want nccl.Host
	}{
		"tcp fallback": {
			"h:1:2 [0] NCCL INFO NET/IB : No device found.\nh:1:2 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.23<0> [1]eth1:10.1.0.23<0>\nh:1:2 [0] NCCL INFO Using network Socket\n",
			nccl.Host{Name: "h", Networks: []string{"Socket"}, NoDevice: true, Sockets: []string{"eth0", "eth1"}},
		},
		"storage NIC in the list": {
			"h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [8]mlx5_bond_0:1/RoCE [RO]; OOB ibp25s0:10.0.12.82<0>\n",
			nccl.Host{Name: "h", HCAs: [][]nccl.HCA{{{0, "mlx5_0", 1, "IB"}, {8, "mlx5_bond_0", 1, "RoCE"}}}},
		},
		"ranks that disagree": {
			"h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB/SHARP [RO]; OOB e:1<0>\nh:2:2 [1] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB [RO]; OOB e:1<0>\n",
			nccl.Host{Name: "h", HCAs: [][]nccl.HCA{{{0, "mlx5_0", 1, "IB/SHARP"}}, {{0, "mlx5_1", 1, "IB"}}}},
		},
		"two ports as one device, 2.19 to 2.22 (NVIDIA/nccl-tests issue 373)": {
			"h:1:2 [0] NCCL INFO P2P plugin IBext_v8\nh:1:2 [0] NCCL INFO NET/IB : Using [0]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [1]={[2] mlx5_0:1/RoCE, [3] mlx5_1:1/RoCE} [2]mlx5_9:1/RoCE [RO]; OOB bond0.526:10.0.0.1<0>\n",
			nccl.Host{Name: "h", Plugins: []string{"IBext_v8"}, HCAs: [][]nccl.HCA{{{0, "mlx5_2", 1, "RoCE"}, {0, "mlx5_3", 1, "RoCE"}, {1, "mlx5_0", 1, "RoCE"}, {1, "mlx5_1", 1, "RoCE"}, {2, "mlx5_9", 1, "RoCE"}}}},
		},
		// NVIDIA/aicr issue 1413 (p6e-gb300r, NCCL 2.29). The last name only begins like one.
		"Data Direct functions": {
			"h:1:2 [0] NCCL INFO NET/IB : Using [0]rocep161s0_dma:1/RoCE [1]rocep202s0_dma:1/RoCE [2]mlx5_dma0:1/RoCE [RO]; OOB e:1<0>\n",
			nccl.Host{Name: "h", HCAs: [][]nccl.HCA{{{0, "rocep161s0", 1, "RoCE"}, {1, "rocep202s0", 1, "RoCE"}, {2, "mlx5_dma0", 1, "RoCE"}}}},
		},
		"HPC-X from 2.25 on": {
			"h:1:2 [0] NCCL INFO P2P plugin v8 IBext_v8\nh:1:2 [0] NCCL INFO Using network NCCL RDMA Plugin v8\n",
			nccl.Host{Name: "h", Plugins: []string{"IBext_v8"}, Networks: []string{"NCCL RDMA Plugin v8"}},
		},
		"no GPUDirect": {
			"h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 3 'mlx5_3'\nh:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 0 / HCA 4 (distance 7 > 5)\n",
			nccl.Host{Name: "h", GPUDirectOff: []string{"HCA 4", "mlx5_3"}},
		},
		"plugin": {
			"h:1:2 [0] NCCL INFO Using network AWS Libfabric\n",
			nccl.Host{Name: "h", Networks: []string{"AWS Libfabric"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := nccl.ParseLog(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]nccl.Host{tt.want}, got.Hosts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseChannelForms(t *testing.T) {
	t.Parallel()
	tests := map[string]nccl.Channel{
		"Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0(8)/GDRDMA":                                     {From: 0, To: 8, Direction: "send", Transport: "NET/IB", Device: 0, GDR: true},
		"Channel 09/0 : 8[0] -> 1[1] [receive] via NET/IB/9":                                            {From: 8, To: 1, Direction: "receive", Transport: "NET/IB", Device: 9},
		"Channel 00 : 4[3000] -> 0[3000] [send] via NET/Socket/0":                                       {From: 4, To: 0, Direction: "send", Transport: "NET/Socket", Device: 0},
		"Ring 00 : 3 -> 10 [send] via NET/IB/0/GDRDMA":                                                  {From: 3, To: 10, Direction: "send", Transport: "NET/IB", Device: 0, GDR: true},
		"Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/2":                                    {From: 0, To: 8, Direction: "send", Transport: "NET/AWS Libfabric", Device: 2},
		"Channel 00/1 : 3[0] -> 0[1] [send] via NET/NCCL RDMA Plugin v8/0(2)/GDRDMA/Shared":             {From: 3, To: 0, Direction: "send", Transport: "NET/NCCL RDMA Plugin v8", Device: 0, GDR: true},
		"Channel 00/0 : 1[7000] -> 0[b7000] [receive] via NET/UCX/0 comm 0x22fcfb0 nRanks 02":           {From: 1, To: 0, Direction: "receive", Transport: "NET/UCX", Device: 0},
		"Channel 00 : 1[7000] -> 0[b7000] [receive] via NET/UCX/0/GDRDMA comm 0x2aaf44000c00 nRanks 08": {From: 1, To: 0, Direction: "receive", Transport: "NET/UCX", Device: 0, GDR: true},
		"Channel 00 : 1[7000] -> 0[b7000] via P2P/IPC comm 0x2aaf44000c00 nRanks 08":                    {From: 1, To: 0, Transport: "P2P/IPC", Device: -1},
		"Channel 01 : 0[0] -> 1[1] via SHM/direct/direct":                                               {From: 0, To: 1, Transport: "SHM/direct/direct", Device: -1},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := nccl.ParseLog(strings.NewReader("h:1:2 [0] NCCL INFO " + text + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			want.Host, want.Count = "h", 1
			if diff := cmp.Diff([]nccl.Channel{want}, got.Channels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOlderInitLines: NCCL up to 2.16 says that a rank is ready without the
// name of the call.
func TestOlderInitLines(t *testing.T) {
	t.Parallel()
	got, err := nccl.ParseLog(strings.NewReader("node2:21:26 [0] NCCL INFO comm 0x7f16fc000fc0 rank 1 nranks 2 cudaDev 0 busId f5000 - Init COMPLETE\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []nccl.Rank{{Rank: 1, Host: "node2", NRanks: 2, BusID: "f5000", Inits: 1}}
	if diff := cmp.Diff(want, got.Ranks); diff != "" {
		t.Error(diff)
	}
}

// One process with all GPUs creates its communicators with another call, and its threads share a PID (as in
// issues of NVIDIA/nccl with 2.25 and 2.27).
func TestOneProcessInitLines(t *testing.T) {
	t.Parallel()
	got, err := nccl.ParseLog(strings.NewReader(`box:68:39 [1] NCCL INFO ncclCommInitAll comm 0x55b9 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId d6000 commId 0x2253 - Init START
box:68:38 [0] NCCL INFO ncclCommInitAll comm 0x55b8 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 52000 commId 0x2253 - Init COMPLETE
box:68:39 [1] NCCL INFO ncclCommInitAll comm 0x55b9 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId d6000 commId 0x2253 - Init COMPLETE
box:68:39 [1] NCCL INFO Init timings - ncclCommInitAll: rank 1 nranks 2 total 0.85 (kernels 0.75, alloc 0.05)
box:68:66 [1] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via P2P/direct pointer
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []nccl.Rank{{Rank: 0, Host: "box", NRanks: 2, BusID: "52000", Inits: 1}, {Rank: 1, Host: "box", Device: 1, NRanks: 2, BusID: "d6000", Inits: 1}}
	if diff := cmp.Diff(want, got.Ranks); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]nccl.Channel{{Host: "box", From: 1, To: 0, Transport: "P2P/direct pointer", Device: -1, Count: 1}}, got.Channels); diff != "" {
		t.Error(diff)
	}
}

// TestTheSameLogIsReadTheSame: two processes of one rank that disagree are
// folded in the order of their numbers, not in that of a map.
func TestTheSameLogIsReadTheSame(t *testing.T) {
	t.Parallel()
	const text = `node1:101:140 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 3b0 commId 0x7 - Init COMPLETE
node1:901:940 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1b0 commId 0x7 - Init COMPLETE
node1:501:540 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 5b0 commId 0x7 - Init COMPLETE
node1:701:740 [0] NCCL INFO Connected all rings
node1:301:340 [0] NCCL INFO NVLS multicast support is available on dev 0
`
	want := []nccl.Rank{
		{Rank: -1, Host: "node1", NVLS: new(true)},
		{Rank: -1, Host: "node1", Rings: 1},
		{Rank: 0, Host: "node1", NRanks: 2, BusID: "3b0", Inits: 3},
	}
	for range 50 {
		got, err := nccl.ParseLog(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Ranks); diff != "" {
			t.Fatal(diff)
		}
	}
}

// A subnet manager that sweeps makes NCCL warn of each adapter of each host ("client reregistration",
// deepspeedai/DeepSpeedExamples issue 310; with the adapter's name from 2.19 on). Such a log is whole.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	const most = 1 << 13
	for name, tt := range map[string]struct {
		hosts   int
		want    int
		clipped bool
	}{
		"as many as hosts and adapters": {100, 800, false},
		"more than the bound":           {most/8 + 1, most, true},
	} {
		var b strings.Builder
		for host := range tt.hosts {
			for rank := range 16 { // two processes see the event of each adapter
				fmt.Fprintf(&b, "node%d:%d:9 [0] transport/net_ib.cc:101 NCCL WARN NET/IB : mlx5_%d:1 Got async event : client reregistration\n", host, rank/8+1, rank%8)
			}
		}
		got, err := nccl.ParseLog(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Warnings) != tt.want || got.Clipped != tt.clipped {
			t.Errorf("%s: %d warnings, clipped %t, want %d, %t", name, len(got.Warnings), got.Clipped, tt.want, tt.clipped)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(""))
	f.Add([]byte("h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 99999999999999999999[0] [send] via NET/IB/0"))
	f.Add([]byte("n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0n:1:2 [0] NCCL INFO Connected all treesm:1:2 [0] NCCL INFO x"))
	f.Add([]byte("\xff\xfe:1:2 [0] NCCL INFO NET/IB : Using [0]:1/IB"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := nccl.ParseLog(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := nccl.ParseLog(bytes.NewReader(data))
		if diff := cmp.Diff(l, again); diff != "" {
			t.Errorf("not the same twice: %s", diff)
		}
	})
}
