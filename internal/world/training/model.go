package training

import (
	"math"
	"math/rand/v2"
	"time"
)

// waiting is the share of a slow rank's extra time that other ranks wait; the rest overlaps with
// their own work.
const waiting = 0.8

// model computes the figures of every step and rank. Steps depend only on the job's seed, so that
// all pods of a job agree.
type model struct {
	job     Job
	slow    float64 // of the slowest node
	jitter  []float64
	loss    []float64
	norm    []float64
	bySpeed []float64 // by global rank
	byNode  []float64
}

func newModel(j Job) *model {
	rng := rand.New(rand.NewPCG(j.Seed, 0x7261696e)) //nolint:gosec // noise of a model, no secret
	m := &model{job: j, slow: 1}
	for _, n := range j.Nodes {
		m.slow = max(m.slow, n.Slow)
	}
	for range j.Steps {
		noise := j.Figures.Jitter*clip(rng.NormFloat64()) + j.StepJitter*rng.Float64()
		m.jitter = append(m.jitter, 1+noise)
	}
	for step := 1; step <= j.Steps; step++ {
		x := float64(step)
		m.loss = append(m.loss, 6.9+5.35*math.Exp(-x/28)+0.03*clip(rng.NormFloat64()))
		m.norm = append(m.norm, 1.2+14*math.Exp(-x/9)+0.1*rng.Float64())
		if j.NaNFrom > 0 && step >= j.NaNFrom {
			m.loss[step-1], m.norm[step-1] = math.NaN(), math.NaN()
		}
	}
	for _, n := range j.Nodes {
		for range n.GPUs {
			m.bySpeed = append(m.bySpeed, 1+j.Figures.RankSpread*(rng.Float64()-0.5))
			own := max(n.Slow, 1)
			m.byNode = append(m.byNode, max(own, 1+(m.slow-1)*waiting))
		}
	}
	return m
}

func clip(v float64) float64 { return max(-2, min(2, v)) }

// seconds of a step on a rank.
func (m *model) seconds(rank, step int) float64 {
	return m.base() * m.warmup(step) * m.jitter[step-1] * m.bySpeed[rank] * m.byNode[rank]
}

// wall is the duration of a step of the job: that of its slowest node.
func (m *model) wall(step int) time.Duration {
	return time.Duration(m.base() * m.warmup(step) * m.jitter[step-1] * m.slow * float64(time.Second))
}

// base is a healthy step in seconds.
func (m *model) base() float64 {
	return m.tokens() / (m.job.Figures.TokensPerGPUPerSecond * m.job.MFUFactor)
}

// tokens per GPU and step.
func (m *model) tokens() float64 {
	return float64(m.job.Figures.Sequence * m.job.Figures.LocalBatch)
}

// warmup is the factor of early steps: compilation, allocator, caches.
func (m *model) warmup(step int) float64 {
	f := m.job.Figures
	if step > f.WarmupSteps {
		return 1
	}
	remaining := 1 - float64(step-1)/float64(f.WarmupSteps)
	return 1 + (f.WarmupFactor-1)*remaining*remaining
}

// tps is tokens per second and device.
func (m *model) tps(rank, step int) float64 { return m.tokens() / m.seconds(rank, step) }

func (m *model) tflops(rank, step int) float64 {
	return m.tps(rank, step) * m.job.Figures.FlopsPerToken / 1e12
}

// memory of a rank in GiB.
func (m *model) memory(rank, step int) float64 {
	share := 0.62 + 0.004*float64(rank%3)
	if step == 1 {
		share -= 0.07
	}
	return m.job.MemoryGiB * share
}
