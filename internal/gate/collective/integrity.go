package collective

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// wrongElements is the largest count of wrong elements of any row.
func (r *review) wrongElements() int64 {
	var most int64
	for _, run := range r.f.Runs {
		for _, row := range run.Rows {
			for _, s := range row.Sides() {
				if s.Wrong != nil {
					most = max(most, *s.Wrong)
				}
			}
		}
	}
	return most
}

// corrupt reports whether a row has wrong elements or a footer counts failed checks.
func (r *review) corrupt() bool {
	return r.wrongElements() > 0 || slices.ContainsFunc(r.f.Runs, func(run nccl.Run) bool { return run.OutOfBounds != nil && *run.OutOfBounds > 0 })
}

// data requires that every result was checked and is correct.
func (r *review) data() {
	if r.corrupt() {
		r.searchable = true
		r.Fail(r.id, r.everything(), "run dcgmi diag -r 4 with memtest on the GPUs of the nodes common to the failed runs, and check their NVLink and HCA error counters", "the data is corrupt: %s", r.firstWrong())
	}
	for i, run := range r.f.Runs {
		if run.Validation != nil && *run.Validation == 0 {
			r.Unobserved(r.id, r.launcher(), "run nccl-tests with -c 1", "repetition %d did not check its data: its header has validation: 0", i+1)
			return
		}
		for _, row := range run.Rows {
			if row.OutOfPlace == nil || row.InPlace == nil {
				r.Unobserved(r.id, r.launcher(), remedyRerun, "repetition %d has only one half at %d bytes, want out-of-place and in-place", i+1, row.Bytes)
				return
			}
			if row.OutOfPlace.Wrong == nil || row.InPlace.Wrong == nil && !r.f.test().oneHalf {
				r.Unobserved(r.id, r.launcher(), "run nccl-tests with -c 1", "repetition %d did not check its data: #wrong is N/A at %d bytes", i+1, row.Bytes)
				return
			}
		}
	}
}

// firstWrong describes the first repetition whose data is wrong.
func (r *review) firstWrong() string {
	for i, run := range r.f.Runs {
		for _, row := range run.Rows {
			for _, s := range row.Sides() {
				if s.Wrong != nil && *s.Wrong > 0 {
					return fmt.Sprintf("#wrong is up to %d, first in repetition %d at %d bytes", r.wrongElements(), i+1, row.Bytes)
				}
			}
		}
		if run.OutOfBounds != nil && *run.OutOfBounds > 0 {
			return fmt.Sprintf("the footer of repetition %d counts %d failed checks", i+1, *run.OutOfBounds)
		}
	}
	return ""
}

// ratio requires the collective's busbw/algbw for the participating ranks, such as 2(n-1)/n: forged
// figures or those of another run do not match.
func (r *review) ratio() {
	n := float64(r.expectedRanks())
	if n < 2 {
		return
	}
	test := r.f.test()
	want := test.factor(n)
	tolerance := r.gate.profile.Collective.RatioTolerance.Value
	for i, run := range r.f.Runs {
		for _, row := range run.Rows {
			for _, s := range row.Sides() {
				if tooSmallToPrint(row.Bytes, s) {
					continue
				}
				if s.AlgBW <= 0 || s.BusBW <= 0 {
					r.refuse(remedyRerun, "repetition %d has no bandwidth at %d bytes", i+1, row.Bytes)
					return
				}
				if !belongs(row.Bytes, s, tolerance) {
					r.refuse("find the origin of these figures: they are inconsistent",
						"time and bandwidth are inconsistent: %d bytes in %g us are %.2f GB/s, the algbw is %.2f (repetition %d)",
						row.Bytes, s.TimeUS, float64(row.Bytes)/s.TimeUS/bytesPerMicrosecond, s.AlgBW, i+1)
					return
				}
				// printed figures are rounded to two decimals
				rounding := printedStep / 2 * (1 + want) / s.AlgBW
				if have := s.BusBW / s.AlgBW; math.Abs(have-want) > want*tolerance+rounding {
					r.refuse("find the origin of these figures: they are not of a run on these GPUs", "busbw/algbw is %.3f at %d bytes, but %s is %.3f for %d ranks: the figures fit %s ranks", have, row.Bytes, test.formula, want, r.expectedRanks(), test.implied(have))
					return
				}
			}
		}
	}
}

// bytesPerMicrosecond is 1 GB/s in bytes per microsecond.
const bytesPerMicrosecond = 1e3

// belongs reports whether a bandwidth matches bytes and time within their rounding: a long time
// may be printed with two digits ("1.2e+07").
func belongs(bytes int64, s nccl.Side, tolerance float64) bool {
	if s.TimeUS <= 0 {
		return false
	}
	have := float64(bytes) / s.TimeUS / bytesPerMicrosecond
	rounding := printedStep/2/s.AlgBW + 0.5/max(s.TimeUS, 1e4) + 0.005/s.TimeUS
	if s.TimeUS >= 1e7 {
		rounding += 0.05
	}
	return math.Abs(have-s.AlgBW) <= s.AlgBW*(tolerance+rounding)
}

// printedStep is the resolution of a printed bandwidth.
const printedStep = 0.01

// tooSmallToPrint reports whether a bandwidth is correctly printed as 0.00.
func tooSmallToPrint(bytes int64, s nccl.Side) bool {
	return s.TimeUS > 0 && float64(bytes)/s.TimeUS/bytesPerMicrosecond < printedStep
}

// devices requires each expected rank once, on the requested nodes.
func (r *review) devices() {
	for i, run := range r.f.Runs {
		if len(run.Devices) == 0 {
			r.Unobserved(r.id, r.launcher(), remedyRerun, "repetition %d lists no devices", i+1)
			return
		}
	}
	if strangers := r.place.strangers(r.f.Nodes); len(strangers) > 0 {
		r.Fail(r.id, strangers[0], "find out why the job ran there", "ranks ran on %s, which the job was not placed on", list(strangers))
	}
	for i, run := range r.f.Runs {
		gpus := map[string]map[string]bool{}
		ranks := map[int]bool{}
		for _, d := range run.Devices {
			node := r.place.node(d.Host)
			if gpus[node] == nil {
				gpus[node] = map[string]bool{}
			}
			gpus[node][fmt.Sprintf("%d %s", d.Device, d.BusID)] = true
			ranks[d.Rank] = true
		}
		for _, node := range r.f.Nodes {
			if have := len(gpus[node]); have != r.f.GPUsPerNode {
				r.blame(node, "check nvidia-smi and the device plugin on the node", "%d of %d GPUs of %s took part in repetition %d", have, r.f.GPUsPerNode, node, i+1)
			}
		}
		if len(ranks) != r.expectedRanks() || len(run.Devices) != r.expectedRanks() {
			r.Fail(r.id, r.launcher(), remedyRerun, "repetition %d ran with %d ranks, expected %d", i+1, len(ranks), r.expectedRanks())
			return
		}
	}
}
