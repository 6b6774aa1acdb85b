package training

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// megatronLines prints Megatron-LM's training log with --log-throughput.
type megatronLines struct {
	job   Job
	model *model
}

func (g megatronLines) begin(w io.Writer, rank int, at time.Time) error {
	_, err := fmt.Fprintf(w, "[rank%d]:> initialized tensor model parallel with size 1\n[rank%d]:[before the start of training step] datetime: %s \n",
		rank, rank, at.UTC().Format("2006-01-02 15:04:05"))
	return err
}

func (g megatronLines) step(w io.Writer, rank, step int, at time.Time) error {
	m := g.model
	batch := g.job.Figures.LocalBatch * g.job.worldSize()
	_, err := fmt.Fprintf(w, "[rank%d]: [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU (TFLOP/s/GPU): %.1f | learning rate: %.6E | global batch size: %5d | lm loss: %s | loss scale: 1.0 | grad norm: %s | number of skipped iterations: %3d | number of nan iterations: %3d |\n",
		rank, at.UTC().Format("2006-01-02 15:04:05.000000"), step, g.job.Steps, step*batch, 1000*m.seconds(rank, step), m.tflops(rank, step),
		1e-4*min(1, float64(step)/10), batch,
		strings.ToUpper(python("%.6E", m.loss[step-1])), python("%.3f", m.norm[step-1]), 0, 0)
	return err
}

func (g megatronLines) end(w io.Writer, rank int, at time.Time) error {
	_, err := fmt.Fprintf(w, "[rank%d]:[after training is done] datetime: %s \n", rank, at.UTC().Format("2006-01-02 15:04:05"))
	return err
}
