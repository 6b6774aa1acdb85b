package nccl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

const tableHead = `# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid 101 on node-1 device  0 [0000:18:00] NVIDIA H200
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
`

const tableRow = "           8             2     float     sum      -1    62.34   0.01   0.02      0    62.34   0.01   0.02      0\n"

// The failure that a run reports is kept. The line of the average names a failure if NCCL_TESTS_MIN_BW is set;
// the timeout is that of -T (src/common.cu of NVIDIA/nccl-tests 2.13 and 2.17).
func TestParseFailuresOfARun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ foot, want string }{
		"healthy":           {"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02 \n", ""},
		"a floor, reached":  {"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02 OK\n", ""},
		"a floor, missed":   {"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02 FAILED\n", "Avg bus bandwidth    : 0.02 FAILED"},
		"failed without it": {"# Out of bounds values : 0 FAILED\n# Avg bus bandwidth    : 0.02 \n", "Out of bounds values : 0 FAILED"},
		"a timeout":         {"node-1: Test timeout (300s) common.cu:512\n", "node-1: Test timeout (300s) common.cu:512"},
		"a test that fails": {" .. node-1 pid 123: Test failure common.cu:401\n", ".. node-1 pid 123: Test failure common.cu:401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := parse(t, tableHead+tableRow+tt.foot)[0]
			if got := strings.Join(run.Errors, "; "); got != tt.want || len(run.Problems) > 0 {
				t.Errorf("errors %q, problems %q", got, run.Problems)
			}
		})
	}
}

// A GPU whose memory does not hold the buffers of the largest size (NVIDIA/nccl-tests issue 350, A100 40GB). The line is
// between the devices and the table.
func TestParseReducedSizes(t *testing.T) {
	t.Parallel()
	const title = "#                                                              out-of-place"
	for line, want := range map[string]int64{
		"# Reducing maxBytes to 12703978837 due to memory limitation\n":                                                             12703978837,
		"# Reducing maxBytes to 12703978837 due to memory limitationnode-1:101:140 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1\n": 12703978837,
		"# Reducing maxBytes to fit\n": 0,
		"":                             0,
	} {
		run := parse(t, strings.Replace(tableHead, title, line+title, 1)+tableRow)[0]
		if run.ReducedTo != want || run.MaxBytes != 8 || len(run.Rows) != 1 || len(run.Problems) > 0 {
			t.Errorf("%q: reduced to %d, want %d: %+v", line, run.ReducedTo, want, run)
		}
	}
}

// Processes that were built without MPI each print a table, and mpirun mixes them (NVIDIA/nccl-tests issue 107): the
// footer of one must not replace that of another.
func TestParseMixedTables(t *testing.T) {
	t.Parallel()
	run := parse(t, tableHead+tableRow+tableRow+`# Out of bounds values : 3 FAILED
# Avg bus bandwidth    : 0.02
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.03
`)[0]
	if run.OutOfBounds == nil || *run.OutOfBounds != 3 || len(run.Problems) != 1 || !strings.Contains(run.Problems[0], "two footers in one run") {
		t.Errorf("out of bounds %v, problems %q", run.OutOfBounds, run.Problems)
	}
}

// Columns of nccl-tests before 2019, whose times are milliseconds, and another unit in the head.
func TestParseOtherTables(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"columns before 2019": {`# NCCL Tests compiled with NCCL 2.4
# Using devices
#   Rank  0 on     node-1 device  0 [0x05] GeForce RTX 2080 Ti
#                                                 out-of-place                    in-place
#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res
           4             1   float     sum    0.010   0.00   0.00    0e+00    0.009   0.00   0.00    0e+00
 Out of bounds values : 0 OK
`, "the columns are those of nccl-tests before 2019"},
		"milliseconds": {strings.Replace(tableHead, "(us)", "(ms)", 1) + tableRow, "invalid unit (ms)"},
		"gigabits":     {strings.ReplaceAll(tableHead, "(GB/s)", "(Gb/s)") + tableRow, "invalid unit (Gb/s)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := parse(t, tt.text)[0]
			if len(run.Problems) != 1 || !strings.Contains(run.Problems[0], tt.want) {
				t.Errorf("%d rows, problems %q", len(run.Rows), run.Problems)
			}
		})
	}
	_, err := nccl.ParseTests(strings.NewReader(`{"version": "2.17.1", "config": {"nthreads": 1}, "results": [{"size": 8}]}`))
	if !errors.Is(err, nccl.ErrNoRun) || !strings.Contains(err.Error(), "JSON") {
		t.Error(err)
	}
}

// Labels of each line: of Intel MPI's -l (NVIDIA/nccl issue 1453), of SkyPilot with and without mpirun's (its pull requests
// 2987 and 3217), and of PALS on HPE Cray (outputs of Polaris in public).
func TestParseLabels(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"[0] ", "(head, rank=0, pid=3808) ", "(head, rank=0, pid=3808) [1,0]<stdout>:", "x3005c0s13b0n0.hsn.cm.polaris.alcf.anl.gov 0: "} {
		var text strings.Builder
		for line := range strings.Lines(tableHead + tableRow + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02\n") {
			text.WriteString(label + line)
		}
		run := parse(t, text.String())[0]
		if len(run.Rows) != 1 || len(run.Devices) != 1 || !run.Complete() || len(run.Problems) > 0 {
			t.Errorf("%q: %+v", label, run)
		}
	}
}

// A line of NCCL behind a line of the table's head or foot, without a limit between them.
func TestParseJoinedComments(t *testing.T) {
	t.Parallel()
	const line = "node-2:201:240 [0] NCCL INFO Connected all trees\n"
	glue := func(text, end string) string { return strings.Replace(text, end+"\n", end+line, 1) }
	cut := func(text, end string) string { return strings.Replace(text, end, end+line, 1) }
	whole := "# Collective test starting: all_reduce_perf\n" + tableHead + tableRow + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.02 \n# Collective test concluded: all_reduce_perf\n"
	// The Makefile's NAME_SUFFIX names the programs of builds for MPI.
	if run := parse(t, glue(strings.ReplaceAll(whole, "_perf", "_perf_mpi"), "_perf_mpi"))[0]; run.Test != "all_reduce_perf_mpi" || !run.Complete() {
		t.Errorf("built for MPI: %+v", run)
	}
	for end, problem := range map[string]string{
		"starting: all_reduce_perf": "", "graph: 0": "", "NVIDIA H200": "", "0 OK": "", "0.02 ": "", "concluded: all_reduce_perf": "",
		"busbw #wrong": "head is joined with a line of NCCL", "Pid 10": "a device is joined with a line of NCCL",
	} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			text := glue(whole, end)
			if text == whole {
				text = cut(whole, end)
			}
			if text == whole {
				t.Fatal("nothing was joined")
			}
			run := parse(t, text)[0]
			if problem != "" {
				if len(run.Problems) == 0 || !strings.Contains(run.Problems[0], problem) {
					t.Errorf("%+v", run)
				}
				return
			}
			if len(run.Rows) != 1 || len(run.Devices) != 1 || run.Devices[0].BusID != "0000:18:00" || !run.Complete() || run.Test != "all_reduce_perf" || run.MaxBytes != 8 || len(run.Problems) > 0 {
				t.Errorf("%+v", run)
			}
		})
	}
}
