package training

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// megatronLines prints Megatron-LM's training log with --log-throughput and --log-straggler: rank 0 and the last rank
// print, and of each rank its first line (internal/gate/training/megatron.sh).
type megatronLines struct {
	job   Job
	model *model
}

func (g megatronLines) begin(w io.Writer, rank int, at time.Time) error {
	date := at.UTC().Format("2006-01-02 15:04:05")
	text := fmt.Sprintf("[rank%d]:firstlight: rank %d of %d begins, datetime: %s\n", rank, rank, g.job.worldSize(), date)
	if rank == 0 {
		text += fmt.Sprintf("[rank0]:> initialized tensor model parallel with size 1\n[rank0]:> initialized pipeline model parallel with size 1\n[rank0]:[before the start of training step] datetime: %s \n", date)
	}
	_, err := io.WriteString(w, text)
	return err
}

// straggler is the report of rank 0 of a step (megatron/core/README_STRAGGLER.md).
func (g megatronLines) straggler(w io.Writer, step int, at time.Time) error {
	m := g.model
	slowest, fastest := 0, 0
	for rank := range g.job.worldSize() {
		if m.tflops(rank, step) < m.tflops(slowest, step) {
			slowest = rank
		}
		if m.tflops(rank, step) > m.tflops(fastest, step) {
			fastest = rank
		}
	}
	const forward = 1000.0 / 3 // milliseconds: the backward pass takes twice as long
	_, err := fmt.Fprintf(w, "[rank0]:INFO:megatron.core.utils:[%s] | MnRtt/Rnk: %.2fms/%d | MxRtt/Rnk: %.2fms/%d | MnEtpt/Rnk: %.2fTF/%d | MxEtpt/Rnk: %.2fTF/%d\n",
		at.UTC().Format("2006-01-02 15:04:05"), forward*m.seconds(fastest, step), fastest, forward*m.seconds(slowest, step), slowest, m.tflops(slowest, step), slowest, m.tflops(fastest, step), fastest)
	return err
}

func (g megatronLines) step(w io.Writer, rank, step int, at time.Time) error {
	if rank == 0 {
		if err := g.straggler(w, step, at); err != nil {
			return err
		}
	}
	if rank != g.job.worldSize()-1 {
		return nil
	}
	m := g.model
	batch := g.job.Figures.LocalBatch * g.job.worldSize()
	_, err := fmt.Fprintf(w, "[rank%d]: [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): %.1f | learning rate: %.6E | global batch size: %5d | lm loss: %s | loss scale: 1.0 | grad norm: %s | number of skipped iterations: %3d | number of nan iterations: %3d |\n",
		rank, at.UTC().Format("2006-01-02 15:04:05.000000"), step, g.job.Steps, step*batch, 1000*m.seconds(rank, step), m.tflops(rank, step),
		1e-4*min(1, float64(step)/10), batch,
		strings.ToUpper(python("%.6E", m.loss[step-1])), python("%.3f", m.norm[step-1]), 0, 0)
	return err
}

func (g megatronLines) end(w io.Writer, rank int, at time.Time) error {
	if rank != 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "[rank%d]:[after training is done] datetime: %s \n", rank, at.UTC().Format("2006-01-02 15:04:05"))
	return err
}
