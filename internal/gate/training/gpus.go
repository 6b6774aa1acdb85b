package training

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

const (
	remedyMeasure = "read in the pods' logs why the measurement before the training failed: it needs python3 and PyTorch, which the trainer's image has"
	remedyGPU     = "compare that GPU's power limit, clocks and temperature under load with the others' (nvidia-smi -q -d POWER,CLOCK,PERFORMANCE,TEMPERATURE), run dcgmi diag -r 3 on it; replace it if they do not explain the difference"
)

// gpus compares each GPU's own rate with the median of all. In training, the ranks wait for each
// other: all step times are those of the slowest GPU and do not identify it.
func (r *review) gpus() {
	limit := r.gate.profile.Training.MaxGPULag
	rates := r.measuredGPUs()
	if len(rates) != r.gate.ranks() {
		return
	}
	all := make([]float64, 0, len(rates))
	for _, m := range rates {
		all = append(all, m.TFLOPS)
	}
	middle, worst := median(all), 0.0
	for rank := range r.gate.ranks() {
		m := rates[rank]
		lag := middle/m.TFLOPS - 1
		worst = max(worst, lag)
		if lag > limit.Value {
			r.Fail(m.id, fmt.Sprintf("%s/gpu%d (rank %d)", m.node, m.Device, rank), remedyGPU,
				"GPU %d of %s (%s) multiplies matrices at %.0f TFLOPS alone, the median of all GPUs is %.0f: it takes %.1f %% longer, the maximum is %.1f %%; all ranks wait for it%s",
				m.Device, m.node, m.UUID, m.TFLOPS, middle, 100*lag, 100*limit.Value, m.limits())
		}
	}
	r.Figure(check.Figure{Name: "matrix product, median GPU", Value: middle, Unit: "TFLOPS"})
	r.figure("lag of the slowest GPU", worst, "fraction", limit.Value, "<=", "profile training.maxGPULag: "+limit.Source)
}

// measuredGPU is a measured GPU with its node.
type measuredGPU struct {
	trainer.MatmulGPU
	node, id string
}

// limits describes nvidia-smi's values during the measurement.
func (m measuredGPU) limits() string {
	text := ""
	if m.PowerLimit != nil && m.PowerDefault != nil {
		text = fmt.Sprintf("; its power limit is %.0f W, the card's own %.0f W", *m.PowerLimit, *m.PowerDefault)
	}
	if m.SMClock != nil {
		text += fmt.Sprintf("; its SM clock is %.0f MHz", *m.SMClock)
	}
	return text
}

// plausible reports whether a measurement may be of the GPU of its rank.
func (r *review) plausible(g trainer.MatmulGPU) bool {
	return g.TFLOPS > 0 && g.TFLOPS <= r.gate.profile.GPU.PeakBF16.Value && g.Size > 0 && g.Seconds > 0 && g.Device == g.Rank%r.gate.gpus()
}

// measuredGPUs are the measured GPUs by rank. Missing or implausible measurements are
// unobserved.
func (r *review) measuredGPUs() map[int]measuredGPU {
	rates := map[int]measuredGPU{}
	for _, p := range r.pods {
		mine := 0
		for _, g := range p.GPUs {
			_, twice := rates[g.Rank]
			if twice || g.Rank < 0 || g.Rank >= r.gate.ranks() || !r.plausible(g) {
				r.Unobserved(r.jobID, p.Node, remedyMeasure, "the measurement of GPU %d (rank %d) on %s is not a plausible rate of a GPU of the job", g.Device, g.Rank, p.Node)
				continue
			}
			rates[g.Rank] = measuredGPU{g, p.Node, p.id}
			mine++
		}
		if mine < r.gate.gpus() {
			r.Unobserved(r.jobID, p.Node, remedyMeasure, "%d of %d GPUs of %s were measured alone: whether one is slow is unknown, since all ranks wait for it", mine, r.gate.gpus(), p.Node)
		}
	}
	return rates
}
