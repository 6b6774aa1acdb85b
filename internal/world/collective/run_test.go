package collective

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/world"
)

func healthy(t *testing.T, nodes int) Run {
	t.Helper()
	hw, err := world.LoadHardware("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Fabric: hw.Fabric, CUDA: hw.Software.CUDA, MinBytes: 8 << 20, MaxBytes: 16 << 30, Repetitions: 3, Debug: true, Seed: 7}
	for i := range nodes {
		n := Node{Host: fmt.Sprintf("nccl-%d", i), Address: fmt.Sprintf("10.0.0.%d", i+1), NVLS: true, GPUDirect: true, Slow: 1}
		for d := range hw.Node.GPUs {
			n.Devices = append(n.Devices, Device{Index: d, BusID: hw.GPU.BusIDs[d], Product: hw.GPU.Product})
			n.HCAs = append(n.HCAs, HCA{Name: fmt.Sprintf("mlx5_%d", d), Gbps: 400})
		}
		r.Nodes = append(r.Nodes, n)
	}
	return r
}

func write(t *testing.T, r Run) (string, int) {
	t.Helper()
	var b strings.Builder
	exit, err := r.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), exit
}

// last returns the out-of-place busbw of the rows of one size.
func last(t *testing.T, out string, size int64) []float64 {
	t.Helper()
	var figures []float64
	s := bufio.NewScanner(strings.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f := strings.Fields(s.Text())
		if len(f) == 13 && f[0] == strconv.FormatInt(size, 10) {
			v, err := strconv.ParseFloat(f[7], 64)
			if err != nil {
				t.Fatal(err)
			}
			figures = append(figures, v)
		}
	}
	return figures
}

func TestBandwidthByState(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		nodes    int
		change   func(*Run)
		from, to float64 // GB/s at 16 GiB
	}{
		{"one node", 1, nil, 474, 486},
		{"one node without NVLS", 1, func(r *Run) { r.Nodes[0].NVLS = false }, 362, 370},
		{"two nodes", 2, nil, 481, 493},
		{"four nodes", 4, nil, 381, 392},
		{"four nodes, one without NVLS", 4, func(r *Run) { r.Nodes[2].NVLS = false }, 360, 380},
		{"64 nodes", 64, nil, 380, 392},
		{"one rail at half rate", 4, func(r *Run) { r.Nodes[1].HCAs[3].Gbps = 200 }, 188, 198},
		{"one rail on one lane", 2, func(r *Run) { r.Nodes[1].HCAs[3].Gbps = 100 }, 115, 128},
		{"one rail down", 4, func(r *Run) { r.Nodes[1].HCAs[3].Gbps = 0 }, 330, 345},
		{"a slow node", 2, func(r *Run) { r.Nodes[1].Slow = 1.3 }, 368, 382},
		{"sockets on one node", 4, func(r *Run) { r.Nodes[1].Socket = true }, 2, 5},
		{"no GPUDirect on one node", 4, func(r *Run) { r.Nodes[1].GPUDirect = false }, 115, 232},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := healthy(t, tt.nodes)
			r.Debug = false
			if tt.change != nil {
				tt.change(&r)
			}
			out, exit := write(t, r)
			if exit != 0 {
				t.Errorf("exit = %d, want 0", exit)
			}
			got := last(t, out, 16<<30)
			if len(got) != 3 {
				t.Fatalf("%d rows of 16 GiB, want 3", len(got))
			}
			for _, v := range got {
				if v < tt.from || v > tt.to {
					t.Errorf("busbw at 16 GiB = %.2f, want %.0f to %.0f", v, tt.from, tt.to)
				}
			}
		})
	}
}

func TestPrintedRatio(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 2, 4, 16} {
		r := healthy(t, nodes)
		out, _ := write(t, r)
		n := float64(r.Ranks())
		rows := 0
		for line := range strings.SplitSeq(out, "\n") {
			f := strings.Fields(line)
			if len(f) != 13 || f[2] != "float" {
				continue
			}
			rows++
			for _, col := range []int{6, 10} {
				alg, _ := strconv.ParseFloat(f[col], 64)
				bus, _ := strconv.ParseFloat(f[col+1], 64)
				if got, want := bus/alg, 2*(n-1)/n; math.Abs(got-want) > 0.012/alg*want {
					t.Errorf("%d nodes: busbw/algbw = %.4f, want %.4f: %s", nodes, got, want, line)
				}
			}
		}
		if want := 3 * 12; rows != want {
			t.Errorf("%d nodes: %d rows, want %d", nodes, rows, want)
		}
	}
}

func TestTableColumns(t *testing.T) {
	t.Parallel()
	out, _ := write(t, healthy(t, 2))
	for _, want := range []string{
		"#                                                              out-of-place                       in-place          \n",
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n",
		"#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         \n",
		"# Out of bounds values : 0 OK\n",
		"# Collective test concluded: all_reduce_perf\n",
		"# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807\n",
		" on     nccl-1 device  7 [0000:df:00] NVIDIA H100 80GB HBM3\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	row := regexp.MustCompile(`(?m)^ 17179869184    4294967296     float     sum      -1 {4}\d{5}  \d{3}\.\d\d  \d{3}\.\d\d       0    \d{5}  \d{3}\.\d\d  \d{3}\.\d\d       0$`)
	if n := len(row.FindAllString(out, -1)); n != 3 {
		t.Errorf("%d rows of 16 GiB in the tool's columns, want 3", n)
	}
}

func TestTransportLines(t *testing.T) {
	t.Parallel()
	crossing := regexp.MustCompile(`Channel \d\d/0 : (\d+)\[\d\] -> (\d+)\[\d\] \[(send|receive)\] via (\S+)`)
	tests := []struct {
		name   string
		change func(*Run)
		has    []string
		lacks  []string
		via    func(rank int) string
	}{
		{
			"healthy", func(*Run) {},
			[]string{"NVLS multicast support is available on dev 0", "Connected all rings, use ring PXN 0 GDR 1", "GPU Direct RDMA Enabled for HCA 7 'mlx5_7'", "Connected NVLS tree"},
			[]string{"NET/Socket", "not available", "GDR 0", "Disabled", "No device found"},
			func(rank int) string { return fmt.Sprintf("NET/IB/%d/GDRDMA", rank%8) },
		},
		{
			"sockets on node 1", func(r *Run) { r.Nodes[1].Socket = true },
			[]string{"nccl-1:", "NET/IB : No device found.", "NET/Socket : Using [0]eth0:10.0.0.2<0>", "Using network Socket", "GDR 0"},
			nil,
			func(int) string { return "NET/Socket/0" },
		},
		{
			"no GPUDirect on node 1", func(r *Run) { r.Nodes[1].GPUDirect = false },
			[]string{"GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", "GDR 0", "GDR 1"},
			[]string{"NET/Socket"},
			func(rank int) string {
				if rank >= 8 {
					return fmt.Sprintf("NET/IB/%d", rank%8)
				}
				return fmt.Sprintf("NET/IB/%d/GDRDMA", rank%8)
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := healthy(t, 2)
			r.Repetitions = 1
			tt.change(&r)
			out, _ := write(t, r)
			for _, s := range tt.has {
				if !strings.Contains(out, s) {
					t.Errorf("output lacks %q", s)
				}
			}
			for _, s := range tt.lacks {
				if strings.Contains(out, s) {
					t.Errorf("output has %q", s)
				}
			}
			rails := map[string]bool{}
			for _, m := range crossing.FindAllStringSubmatch(out, -1) {
				printer := m[1]
				if m[3] == "receive" {
					printer = m[2]
				}
				rank, _ := strconv.Atoi(printer)
				if want := tt.via(rank); m[4] != want {
					t.Errorf("%s: want via %s", m[0], want)
				}
				rails[m[4]] = true
			}
			if tt.name == "healthy" && len(rails) != 8 {
				t.Errorf("%d rails, want 8", len(rails))
			}
			if len(crossing.FindAllString(out, -1)) != 2*2*channels {
				t.Errorf("%d inter-node channel lines, want %d", len(crossing.FindAllString(out, -1)), 2*2*channels)
			}
		})
	}
}

func TestDefects(t *testing.T) {
	t.Parallel()
	t.Run("corruption", func(t *testing.T) {
		t.Parallel()
		r := healthy(t, 4)
		r.Corrupt = true
		out, exit := write(t, r)
		if exit == 0 {
			t.Error("exit = 0 with wrong elements")
		}
		// The footer of nccl-tests counts the failed checks, one a rank and half, not the elements.
		halves := 0
		for _, m := range regexp.MustCompile(`(?m)^ +\d+ .* float .*$`).FindAllString(out, -1) {
			for _, column := range []int{8, 12} {
				if strings.Fields(m)[column] != "0" {
					halves++
				}
			}
		}
		if footer := fmt.Sprintf("# Out of bounds values : %d FAILED", halves*r.Ranks()); halves == 0 || !strings.Contains(out, footer) {
			t.Errorf("output lacks %q", footer)
		}
		if strings.Count(out, "# Collective test starting") != 1 {
			t.Error("the script continued after a failed repetition")
		}
	})
	t.Run("truncated", func(t *testing.T) {
		t.Parallel()
		r := healthy(t, 4)
		r.Truncated = true
		out, exit := write(t, r)
		if exit != 0 || strings.Contains(out, "Out of bounds") || len(last(t, out, 16<<30)) != 0 || len(last(t, out, 8<<20)) != 1 {
			t.Errorf("exit %d; want 0, no footer, first rows only", exit)
		}
	})
	t.Run("nothing to run", func(t *testing.T) {
		t.Parallel()
		if _, exit := write(t, Run{}); exit == 0 {
			t.Error("exit = 0 without ranks")
		}
	})
}

func TestSameRunSameBytes(t *testing.T) {
	t.Parallel()
	a, _ := write(t, healthy(t, 4))
	b, _ := write(t, healthy(t, 4))
	if a != b {
		t.Error("two runs of one seed differ")
	}
	r := healthy(t, 4)
	r.Seed++
	if c, _ := write(t, r); a == c {
		t.Error("another seed gives the same bytes")
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		selection, name string
		want            bool
	}{
		{"", "mlx5_0", true},
		{"=mlx5_0,mlx5_1", "mlx5_1", true},
		{"=mlx5_1", "mlx5_10", false},
		{"mlx5_1", "mlx5_10", true},
		{"=mlx5_0:1", "mlx5_0", true},
		{"^mlx5_bond", "mlx5_bond_0", false},
		{"^mlx5_bond", "mlx5_0", true},
	}
	for _, tt := range tests {
		if got := selected(tt.selection, tt.name); got != tt.want {
			t.Errorf("selected(%q, %q) = %v, want %v", tt.selection, tt.name, got, tt.want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"8": 8, "8M": 8 << 20, "16G": 16 << 30, "4k": 4 << 10} {
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "M", "-1M", "8T", "9999999999G"} {
		if got, err := ParseBytes(in); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", in, got)
		}
	}
}

// The other programs print their factor, their sizes, and N/A for data that they do not compare.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		factor   func(n float64) float64
		redop    string
		size     int64 // printed for 16 GiB on 48 GPUs
		inPlace  string
		from, to float64 // GB/s at 16 GiB on 6 nodes
	}{
		"all_gather_perf":     {func(n float64) float64 { return (n - 1) / n }, "none", 17179868928, "0", 335, 345},
		"reduce_scatter_perf": {func(n float64) float64 { return (n - 1) / n }, "sum", 17179868928, "0", 335, 345},
		"alltoall_perf":       {func(n float64) float64 { return (n - 1) / n }, "none", 17179868928, "N/A", 48, 50.5},
		"sendrecv_perf":       {func(float64) float64 { return 1 }, "sum", 16 << 30, "N/A", 46, 47},
	} {
		r := healthy(t, 6)
		r.Program, _ = ProgramIn("mpirun " + name + " -b 8M")
		out, exit := write(t, r)
		rows := 0
		for line := range strings.SplitSeq(out, "\n") {
			f := strings.Fields(line)
			if len(f) != 13 || f[2] != "float" {
				continue
			}
			rows++
			alg, _ := strconv.ParseFloat(f[6], 64)
			bus, _ := strconv.ParseFloat(f[7], 64)
			if want := tt.factor(48); math.Abs(bus/alg-want) > 0.012/alg*want || f[3] != tt.redop || f[8] != "0" || f[12] != tt.inPlace {
				t.Errorf("%s: busbw/algbw = %.4f, want %.4f: %s", name, bus/alg, want, line)
			}
		}
		got := last(t, out, tt.size)
		if exit != 0 || rows != 36 || len(got) != 3 || got[0] < tt.from || got[0] > tt.to || !strings.Contains(out, "# Collective test starting: "+name+"\n") {
			t.Errorf("%s: exit %d, %d rows, busbw %v, want %g to %g", name, exit, rows, got, tt.from, tt.to)
		}
		r.Corrupt = true
		if out, exit := write(t, r); exit == 0 || !strings.Contains(out, " FAILED") {
			t.Errorf("%s: exit %d with wrong elements", name, exit)
		}
	}
}

// A slow rail slows what uses it; uplinks slow the all-to-all of more than two nodes alone.
func TestRailAndUplinks(t *testing.T) {
	t.Parallel()
	at := func(change func(*Run)) float64 {
		r := healthy(t, 4)
		change(&r)
		return r.Plateau()
	}
	program := func(name string) Program { p, _ := ProgramIn(name); return p }
	slow := func(r *Run) {
		for i := range r.Nodes {
			r.Nodes[i].HCAs[3].Part = 0.5
		}
	}
	for name, tt := range map[string]struct{ is, healthy, part float64 }{
		"all rails":          {at(slow), at(func(*Run) {}), 0.5},
		"the slow rail":      {at(func(r *Run) { slow(r); r.HCASelection = "=mlx5_3" }), at(func(r *Run) { r.HCASelection = "=mlx5_3" }), 0.5},
		"another rail":       {at(func(r *Run) { slow(r); r.HCASelection = "=mlx5_2" }), at(func(r *Run) { r.HCASelection = "=mlx5_2" }), 1},
		"uplinks, exchanged": {at(func(r *Run) { r.Program, r.Uplinks = program("alltoall_perf"), 0.4 }), at(func(r *Run) { r.Program = program("alltoall_perf") }), 0.4},
		"uplinks, reduced":   {at(func(r *Run) { r.Uplinks = 0.4 }), at(func(*Run) {}), 1},
		"uplinks of a pair":  {at(func(r *Run) { r.Program, r.Uplinks, r.Nodes = program("alltoall_perf"), 0.4, r.Nodes[:2] }), at(func(r *Run) { r.Program, r.Nodes = program("alltoall_perf"), r.Nodes[:2] }), 1},
	} {
		if tt.healthy <= 0 || math.Abs(tt.is/tt.healthy-tt.part) > 1e-9 {
			t.Errorf("%s: %g of %g GB/s, want %g of it", name, tt.is, tt.healthy, tt.part)
		}
	}
}
