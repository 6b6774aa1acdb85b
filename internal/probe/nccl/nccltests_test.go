package nccl_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t *testing.T, text string) []nccl.Run {
	t.Helper()
	runs, err := nccl.ParseTests(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestParseCurrentFormat(t *testing.T) {
	t.Parallel()
	runs := parse(t, string(read(t, "v2.19.6-h100.log")))
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	run := runs[0]
	last := run.Rows[2]
	run.Rows = nil
	want := nccl.Run{
		Version: "2.19.6", NCCLVersion: 22807, Test: "all_reduce_perf", Starting: true, Concluded: true,
		MinBytes: 4 << 30, MaxBytes: 16 << 30, StepFactor: 2, Validation: new(1),
		Devices: []nccl.Device{
			{Rank: 0, PID: 66421, Host: "node1", BusID: "0000:1b:00", Name: "NVIDIA H100 80GB HBM3"},
			{Rank: 1, PID: 66422, Host: "node2", BusID: "0000:1b:00", Name: "NVIDIA H100 80GB HBM3"},
		},
		OutOfBounds: new(int64(0)), AvgBusBW: new(52.9753),
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Error(diff)
	}
	wantRow := nccl.Row{
		Bytes: 17179869184, Count: 4294967296, Type: "float", RedOp: "sum", Root: -1,
		OutOfPlace: &nccl.Side{TimeUS: 120000, AlgBW: 259.78, BusBW: 487.09, Wrong: new(int64(0))},
		InPlace:    &nccl.Side{TimeUS: 66109, AlgBW: 259.87, BusBW: 487.26, Wrong: new(int64(0))},
	}
	if diff := cmp.Diff(wantRow, last); diff != "" {
		t.Error(diff)
	}
	if bw, ok := last.BusBW(); !ok || bw != 487.09 {
		t.Errorf("busbw %v %v", bw, ok)
	}
	if diff := cmp.Diff([]int64{4 << 30, 8 << 30, 16 << 30}, run.Sizes()); diff != "" {
		t.Error(diff)
	}
}

func TestParseOtherForms(t *testing.T) {
	t.Parallel()
	whole := string(read(t, "v2.19.6-h100.log"))
	tests := map[string]struct {
		text             string
		runs, rows       int
		complete, failed bool
		wrong            *int64
		busbw            float64
	}{
		"old form under mpirun":        {string(read(t, "a100-old.log")), 1, 2, true, false, new(int64(0)), 231.70},
		"per iteration with timestamp": {string(read(t, "per-iteration.log")), 1, 1, true, false, nil, 43.48},
		"wrong elements":               {string(read(t, "corrupt.log")), 1, 1, true, false, new(int64(1000000)), 129.77},
		"three runs in one log":        {whole + whole + whole, 3, 3, true, false, new(int64(0)), 487.09},
		"two old runs in one log":      {strings.Repeat(string(read(t, "a100-old.log")), 2), 2, 2, true, false, new(int64(0)), 231.70},
		"kubelet timestamps":           {stamp(whole), 1, 3, true, false, new(int64(0)), 487.09},
		"no footer":                    {whole[:strings.Index(whole, "# Out of bounds")], 1, 3, false, false, new(int64(0)), 487.09},
		"no last line":                 {whole[:strings.Index(whole, "# Collective test concluded")], 1, 3, false, false, new(int64(0)), 487.09},
		"cut in a row":                 {whole[:strings.Index(whole, "480.50")], 1, 1, false, true, new(int64(0)), 467.57},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := parse(t, tt.text)
			if len(runs) != tt.runs {
				t.Fatalf("%d runs, want %d", len(runs), tt.runs)
			}
			run := runs[len(runs)-1]
			if len(run.Rows) != tt.rows || run.Complete() != tt.complete || (len(run.Problems) > 0) != tt.failed {
				t.Fatalf("%d rows, complete %v, problems %v", len(run.Rows), run.Complete(), run.Problems)
			}
			last := run.Rows[len(run.Rows)-1]
			if bw, _ := last.BusBW(); bw != tt.busbw {
				t.Errorf("busbw %v, want %v", bw, tt.busbw)
			}
			if diff := cmp.Diff(tt.wrong, last.OutOfPlace.Wrong); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func stamp(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		out.WriteString("2026-11-21T01:02:03.123456789Z " + line)
	}
	return out.String()
}

func TestParseEmptyInput(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n\n", "bash: all_reduce_perf: command not found\n", "\xff\xfe\x00\x01"} {
		if runs, err := nccl.ParseTests(strings.NewReader(text)); !errors.Is(err, nccl.ErrNoRun) || runs != nil {
			t.Errorf("%q: %v, %v", text, runs, err)
		}
	}
}

// halves is a table with one half, as -O prints it: title, head, row.
const halves = `# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#                                                              %s
#       size         count      type   redop    root     time   algbw   busbw #wrong
           8             2     float     sum      -1    62.34   0.01   0.02      0
`

func TestParseTablesWithOneHalf(t *testing.T) {
	t.Parallel()
	for title, in := range map[string]bool{"out-of-place": false, "in-place": true} {
		runs := parse(t, fmt.Sprintf(halves, title))
		row := runs[0].Rows[0]
		if (row.InPlace != nil) != in || (row.OutOfPlace != nil) == in || len(runs[0].Problems) > 0 || row.Sides()[0].TimeUS != 62.34 {
			t.Errorf("%s: %+v", title, runs[0])
		}
	}
}

func TestParseRowsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	const head = `# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) validation: 1
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
`
	tests := map[string]struct{ row, problem string }{
		"cut after the first half": {"           8             2     float     sum      -1    62.34   0.01   0.02      0", "9 fields for 13 columns"},
		"a line of NCCL behind it": {"           8             2     float     sum      -1    62.34   0.01   0.02      0    62.34   0.01   0.02      0node1:101:140 [0] NCCL INFO Connected all trees", "joined"},
		"in-place only":            {"           8             2     float     sum      -1                                       62.34   0.01   0.02      0", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := parse(t, head+tt.row+"\n")[0]
			if tt.problem == "" {
				if len(run.Problems) > 0 || len(run.Rows) != 1 || run.Rows[0].OutOfPlace != nil || run.Rows[0].InPlace == nil {
					t.Errorf("%+v", run)
				}
				return
			}
			if len(run.Rows) > 0 || len(run.Problems) != 1 || !strings.Contains(run.Problems[0], tt.problem) {
				t.Errorf("%+v", run)
			}
		})
	}
}

// TestParseOldAllToAll: the tests without an operation left its column blank.
func TestParseOldAllToAll(t *testing.T) {
	t.Parallel()
	run := parse(t, `#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
  1073741824      33554432   float            4335.5  247.66  216.71    N/A   4274.2  251.22  219.81    N/A
`)[0]
	if len(run.Rows) != 1 || run.Rows[0].RedOp != "" || run.Rows[0].OutOfPlace.BusBW != 216.71 || run.Rows[0].InPlace.TimeUS != 4274.2 {
		t.Errorf("%+v", run)
	}
}

// TestParseWithoutCommentMarks: a table that was copied without its "#" is
// refused, and the reason names the missing marks.
func TestParseWithoutCommentMarks(t *testing.T) {
	t.Parallel()
	_, err := nccl.ParseTests(strings.NewReader(strings.ReplaceAll(string(read(t, "v2.19.6-h100.log")), "#", " ")))
	if !errors.Is(err, nccl.ErrNoRun) || !strings.Contains(err.Error(), "the # at the start of the lines is missing") {
		t.Error(err)
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"8": 8, "8K": 8192, "8M": 8 << 20, "16G": 16 << 30, "16g": 16 << 30} {
		if got, err := nccl.ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "G", "-8M", "8T", "9999999999999G", "8.5M"} {
		if got, err := nccl.ParseSize(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func FuzzParseTests(f *testing.F) {
	for _, name := range []string{"v2.19.6-h100.log", "a100-old.log", "per-iteration.log", "corrupt.log"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, row := range []string{ // rows of the other programs
		"     8388096         43688     float    none      -1    95.20   88.11   86.27       0    94.10   89.14   87.28       0",
		"     8388608        131072     float    none      -1   166.11   50.50   47.34       0   161.13   52.06   48.81     N/A",
		"     8388608        131072     float             166.11   50.50   47.34    N/A   161.13   52.06   48.81     N/A",
	} {
		f.Add([]byte("# Collective test starting: alltoall_perf\n#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n" + row + "\n# Collective test concluded: sendrecv_perf\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := nccl.ParseTests(bytes.NewReader(data))
		if err == nil && len(runs) == 0 {
			t.Error("neither runs nor an error")
		}
		for _, run := range runs {
			for _, row := range run.Rows {
				if len(row.Sides()) == 0 {
					t.Error("a row without figures")
				}
			}
			run.Sizes()
		}
	})
}
