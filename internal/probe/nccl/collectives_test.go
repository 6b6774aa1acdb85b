package nccl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// wrong is a count of wrong elements; -1 is N/A.
func wrong(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// The formats of the other programs: no operation ("none"), an operation of its own, and the data of the
// in-place half not compared (N/A), as nccl-tests prints for alltoall and sendrecv.
func TestParseOtherPrograms(t *testing.T) {
	t.Parallel()
	const head = `# nccl-tests version 2.19.6 nccl-headers=22807 nccl-library=22807
# Collective test starting: PROGRAM
# nThread 1 nGpus 1 minBytes 8388608 maxBytes 8388608 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
`
	const foot = `
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 56.4 
#
# Collective test concluded: PROGRAM
#
`
	for program, tt := range map[string]struct {
		row  string
		want nccl.Row
	}{
		"all_gather_perf": {
			"     8388096         43688     float    none      -1    95.20   88.11   86.27       0    94.10   89.14   87.28       0",
			nccl.Row{Bytes: 8388096, Count: 43688, Type: "float", RedOp: "none", Root: -1, OutOfPlace: &nccl.Side{TimeUS: 95.20, AlgBW: 88.11, BusBW: 86.27, Wrong: wrong(0)}, InPlace: &nccl.Side{TimeUS: 94.10, AlgBW: 89.14, BusBW: 87.28, Wrong: wrong(0)}},
		},
		"reduce_scatter_perf": {
			"     8388096         43688     float     sum      -1    95.20   88.11   86.27       4    94.10   89.14   87.28       0",
			nccl.Row{Bytes: 8388096, Count: 43688, Type: "float", RedOp: "sum", Root: -1, OutOfPlace: &nccl.Side{TimeUS: 95.20, AlgBW: 88.11, BusBW: 86.27, Wrong: wrong(4)}, InPlace: &nccl.Side{TimeUS: 94.10, AlgBW: 89.14, BusBW: 87.28, Wrong: wrong(0)}},
		},
		"alltoall_perf": {
			"     8388608        131072     float    none      -1   166.11   50.50   47.34       0   161.13   52.06   48.81     N/A",
			nccl.Row{Bytes: 8388608, Count: 131072, Type: "float", RedOp: "none", Root: -1, OutOfPlace: &nccl.Side{TimeUS: 166.11, AlgBW: 50.50, BusBW: 47.34, Wrong: wrong(0)}, InPlace: &nccl.Side{TimeUS: 161.13, AlgBW: 52.06, BusBW: 48.81, Wrong: wrong(-1)}},
		},
		"sendrecv_perf": {
			"     8388608       2097152     float     sum      -1   180.30   46.53   46.53       0   180.10   46.58   46.58     N/A",
			nccl.Row{Bytes: 8388608, Count: 2097152, Type: "float", RedOp: "sum", Root: -1, OutOfPlace: &nccl.Side{TimeUS: 180.30, AlgBW: 46.53, BusBW: 46.53, Wrong: wrong(0)}, InPlace: &nccl.Side{TimeUS: 180.10, AlgBW: 46.58, BusBW: 46.58, Wrong: wrong(-1)}},
		},
	} {
		run := parse(t, strings.ReplaceAll(head+tt.row+foot, "PROGRAM", program))[0]
		if run.Test != program || !run.Complete() || len(run.Problems) > 0 {
			t.Errorf("%s: %+v", program, run)
		}
		if diff := cmp.Diff([]nccl.Row{tt.want}, run.Rows); diff != "" {
			t.Errorf("%s: %s", program, diff)
		}
	}
}

// The last line names the test where the first is missing, and must not contradict it; without a name it does
// not.
func TestParseConcludedTest(t *testing.T) {
	t.Parallel()
	whole := string(read(t, "v2.19.6-h100.log"))
	other := parse(t, strings.Replace(whole, "concluded: all_reduce_perf", "concluded: alltoall_perf", 1))[0]
	if len(other.Problems) != 1 || !strings.Contains(other.Problems[0], `"all_reduce_perf" ends as one of "alltoall_perf"`) {
		t.Errorf("%q", other.Problems)
	}
	without := parse(t, strings.Replace(whole, "# Collective test starting: all_reduce_perf\n", "", 1))[0]
	if without.Test != "all_reduce_perf" || len(without.Problems) > 0 {
		t.Errorf("%q, %q", without.Test, without.Problems)
	}
	for _, last := range []string{"# Collective test concluded\n", "# Collective test concluded: \n"} {
		nameless := parse(t, strings.Replace(whole, "# Collective test concluded: all_reduce_perf\n", last, 1))[0]
		if nameless.Test != "all_reduce_perf" || !nameless.Complete() || len(nameless.Problems) > 0 {
			t.Errorf("%q: %q, complete %v, %q", last, nameless.Test, nameless.Complete(), nameless.Problems)
		}
	}
}

// Published outputs of the other programs: the last row and the test, if it is printed.
func TestParsePublishedCollectives(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(filepath.Join(dir, "INDEX.tsv")); os.IsNotExist(err) {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	for file, tt := range map[string]struct {
		test, redop string
		in, out     *int64 // wrong elements of the last row
		busbw       float64
	}{
		"alltoall-na-inplace.txt": {"alltoall_perf", "none", wrong(-1), wrong(0), 35.90},
		"superb-03.txt":           {"", "", wrong(-1), wrong(-1), 224.31},
		"superb-06.txt":           {"", "sum", wrong(-1), wrong(-1), 231.25},
		"gcp-03.txt":              {"", "none", wrong(0), wrong(0), 188.73},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "nccltests", file))
		if err != nil {
			t.Fatal(err)
		}
		run := parse(t, string(text))[0]
		last := run.Rows[len(run.Rows)-1]
		bw, _ := last.BusBW()
		if run.Test != tt.test || last.RedOp != tt.redop || bw != tt.busbw || !cmp.Equal(last.InPlace.Wrong, tt.in) || !cmp.Equal(last.OutOfPlace.Wrong, tt.out) {
			t.Errorf("%s: test %q, last row %+v", file, run.Test, last)
		}
	}
}
