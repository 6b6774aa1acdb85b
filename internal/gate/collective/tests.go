package collective

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/profile"
)

// test is a program of nccl-tests. The factors and what it compares are those of nccl-tests'
// doc/PERFORMANCE.md and src: GetBw, GetCollByteCount and InitData of each program.
type test struct {
	name, program string
	// factor is busbw/algbw for n GPUs; formula is its text.
	factor  func(n float64) float64
	formula string
	// shared: the size is divided over the GPUs, rounded down to 16 bytes each (4 before 2.18).
	shared bool
	// oneHalf: the program compares the out-of-place data only, and prints N/A for the other half.
	oneHalf bool
}

func allButOne(n float64) float64 { return (n - 1) / n }

const allButOneText = "(n-1)/n"

var tests = []test{
	{name: profile.AllReduce, program: "all_reduce_perf", formula: "2(n-1)/n", factor: func(n float64) float64 { return 2 * (n - 1) / n }},
	{name: profile.AllGather, program: "all_gather_perf", formula: allButOneText, factor: allButOne, shared: true},
	{name: profile.ReduceScatter, program: "reduce_scatter_perf", formula: allButOneText, factor: allButOne, shared: true},
	{name: profile.AllToAll, program: "alltoall_perf", formula: allButOneText, factor: allButOne, shared: true, oneHalf: true},
	{name: profile.SendRecv, program: "sendrecv_perf", formula: "1", factor: func(float64) float64 { return 1 }, oneHalf: true},
}

// testOf is the test of a collective; "" is the all-reduce, as in runs of earlier versions.
func testOf(name string) (test, bool) {
	if name == "" {
		return tests[0], true
	}
	i := slices.IndexFunc(tests, func(t test) bool { return t.name == name })
	if i < 0 {
		return test{}, false
	}
	return tests[i], true
}

// test is the test of a job. A collective that is not known has no program.
func (f Figures) test() test {
	t, _ := testOf(f.Collective)
	return t
}

// isAllReduce: it has the published ceilings, and its failure is localised first.
func (t test) isAllReduce() bool { return t.name == profile.AllReduce }

// key is the name in stored figures: left out for the all-reduce, as in earlier versions.
func (t test) key() string {
	if t.isAllReduce() {
		return ""
	}
	return t.name
}

// ceilings is where a profile has the figures.
func (t test) ceilings() string {
	if t.isAllReduce() {
		return "collective.ceilings"
	}
	return "collective.suite." + t.name + ".ceilings"
}

// printed reports whether a size may be printed for a step of this size on n GPUs.
func (t test) printed(size, step int64, n int) bool {
	if !t.shared || n < 1 {
		return size == step
	}
	for _, unit := range []int64{16, 4} { // bytes; 4: one float
		if share := int64(n) * unit; size == step/share*share {
			return true
		}
	}
	return false
}

// implied is the number of GPUs that a ratio of busbw and algbw implies.
func (t test) implied(ratio float64) string {
	switch {
	case t.isAllReduce() && ratio > 0 && ratio < 2:
		return fmt.Sprintf("%.0f", 2/(2-ratio))
	case t.formula == allButOneText && ratio > 0 && ratio < 1:
		return fmt.Sprintf("%.0f", 1/(1-ratio))
	default:
		return "no number of"
	}
}
