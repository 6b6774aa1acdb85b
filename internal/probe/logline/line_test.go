package logline_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/logline"
)

func TestParse(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 1, 2, 3, 456_000_000, time.UTC)
	tests := map[string]struct {
		in   string
		want logline.Line
	}{
		"plain":                   {"# Using devices", logline.Line{Rank: -1, Text: "# Using devices"}},
		"carriage return":         {"abc\r", logline.Line{Rank: -1, Text: "abc"}},
		"srun label":              {"3:  8388608 2097152", logline.Line{Rank: 3, Text: " 8388608 2097152"}},
		"mpirun tag":              {"[1,12]<stdout>:# Avg bus bandwidth", logline.Line{Rank: 12, Text: "# Avg bus bandwidth"}},
		"mpirun tag stderr":       {"[1,0]<stderr>: host:1:1 [0] NCCL INFO x", logline.Line{Rank: 0, Text: "host:1:1 [0] NCCL INFO x"}},
		"timestamp":               {"2026-11-21T01:02:03.456Z  8388608", logline.Line{Time: at, Rank: -1, Text: " 8388608"}},
		"cri":                     {"2026-11-21T01:02:03.456Z stdout F [rank5]:step: 1", logline.Line{Time: at, Rank: 5, Text: "step: 1"}},
		"kubectl prefix":          {"[pod/x-0/trainer] [rank5]: step: 1", logline.Line{Rank: 5, Text: "step: 1"}},
		"stern":                   {"collective-0-x7k2m launcher [1,3]<stdout>:# Using devices", logline.Line{Rank: 3, Text: "# Using devices"}},
		"stern, a pod of a role":  {"bert-worker-12 pytorch [rank5]: step: 1", logline.Line{Rank: 5, Text: "step: 1"}},
		"stern, in colours":       {"\x1b[32mtraining-2-bcdfg\x1b[0m \x1b[36mtrainer\x1b[0m  8388608", logline.Line{Rank: -1, Text: " 8388608"}},
		"stern, with timestamps":  {"collective-0-x7k2m launcher 2026-11-21T01:02:03.456Z # Using devices", logline.Line{Time: at, Rank: -1, Text: "# Using devices"}},
		"a word with a dash":      {"all-reduce test failed", logline.Line{Rank: -1, Text: "all-reduce test failed"}},
		"two words with a dash":   {"gpu-01 launcher ended", logline.Line{Rank: -1, Text: "gpu-01 launcher ended"}},
		"a word that ends so":     {"node-class launcher ended", logline.Line{Rank: -1, Text: "node-class launcher ended"}},
		"host names of NCCL":      {"gpu-01:101:140 [0] NCCL INFO a-bcdfg x y", logline.Line{Rank: -1, Text: "gpu-01:101:140 [0] NCCL INFO a-bcdfg x y"}},
		"colours":                 {"\x1b[31mstep:  1  \x1b[32mloss: 2\x1b[0m", logline.Line{Rank: -1, Text: "step:  1  loss: 2"}},
		"blanks before a tag":     {"   [1,0]<stdout>:# Avg bus bandwidth", logline.Line{Rank: 0, Text: "# Avg bus bandwidth"}},
		"Open MPI 5":              {"[prterun-gpu-01-4711@1,3]<stdout>: # Using devices", logline.Line{Rank: 3, Text: "# Using devices"}},
		"timestamps of mpirun":    {"Sat Nov 21 01:02:03 2026[1,3]<stdout>:# Using devices", logline.Line{Rank: 3, Text: "# Using devices"}},
		"timestamps alone":        {"Sat Nov 21 01:02:03 2026<stdout>:# Using devices", logline.Line{Rank: -1, Text: "# Using devices"}},
		"padded srun label":       {"  3: # Using devices", logline.Line{Rank: 3, Text: "# Using devices"}},
		"blanks are the text's":   {"     8388608  2097152", logline.Line{Rank: -1, Text: "     8388608  2097152"}},
		"a date of the program's": {"Sat Nov 21 01:02:03 2026 begins", logline.Line{Rank: -1, Text: "Sat Nov 21 01:02:03 2026 begins"}},
		"two rank labels":         {"[default3]:[rank27]:[W x] y", logline.Line{Rank: 27, Text: "[W x] y"}},
		"no rank label":           {"[Rank 3] Watchdog", logline.Line{Rank: -1, Text: "[Rank 3] Watchdog"}},
		"huge rank":               {"[rank99999999]:x", logline.Line{Rank: -1, Text: "[rank99999999]:x"}},
		"empty":                   {"", logline.Line{Rank: -1}},
		// Ray, also under SkyPilot (skypilot-org/skypilot pull requests 2987 and 3217): the rank is that of the node.
		"Ray":                        {"(TrainWorker pid=1834, ip=10.0.0.7)  8388608", logline.Line{Rank: -1, Text: " 8388608"}},
		"Ray, a process":             {"(pid=1834) [rank5]: step: 1", logline.Line{Rank: 5, Text: "step: 1"}},
		"Ray, in colours":            {"\x1b[36m(head, rank=0, pid=21170)\x1b[0m # nThread 1", logline.Line{Rank: -1, Text: "# nThread 1"}},
		"Ray and mpirun":             {"(worker1, rank=1, pid=2769, ip=10.100.10.12) [1,8]<stdout>:# Avg", logline.Line{Rank: 8, Text: "# Avg"}},
		"brackets without a process": {"(a, b) text", logline.Line{Rank: -1, Text: "(a, b) text"}},
		"a process in a text":        {"(see the log of pid=3) text", logline.Line{Rank: -1, Text: "(see the log of pid=3) text"}},
		// PALS on HPE Cray, mpiexec -l (NVIDIA/nccl-tests on Polaris, 2.10)
		"PALS":                {"x3005c0s13b0n0.hsn.cm.polaris.alcf.anl.gov 12: #  size", logline.Line{Rank: 12, Text: "#  size"}},
		"a word and a number": {"Epoch 1: loss 2", logline.Line{Rank: -1, Text: "Epoch 1: loss 2"}},
		"a name and a number": {"x3 step 3: loss 2", logline.Line{Rank: -1, Text: "x3 step 3: loss 2"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, logline.Parse(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanCutsLongLines(t *testing.T) {
	t.Parallel()
	var got []int
	in := strings.Repeat("x", 3*logline.MaxLine) + "\nend"
	err := logline.Scan(strings.NewReader(in), func(l logline.Line) error {
		got = append(got, len(l.Text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{logline.MaxLine, 3}, got); diff != "" {
		t.Error(diff)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestScanIsBounded(t *testing.T) {
	t.Parallel()
	err := logline.Scan(io.MultiReader(strings.NewReader("a\n"), endless{}), func(logline.Line) error { return nil })
	if !errors.Is(err, logline.ErrTooLong) {
		t.Fatalf("got %v", err)
	}
}
