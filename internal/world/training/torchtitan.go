package training

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// torchtitanLines prints torchtitan's log under torchrun.
type torchtitanLines struct {
	job   Job
	model *model
}

func (t torchtitanLines) log(w io.Writer, rank int, at time.Time, format string, args ...any) error {
	_, err := fmt.Fprintf(w, "[rank%d]:[titan] %s - root - INFO - %s\n", rank, at.UTC().Format("2006-01-02 15:04:05,000"), fmt.Sprintf(format, args...))
	return err
}

func (t torchtitanLines) begin(w io.Writer, rank int, at time.Time) error {
	f := t.job.Figures
	for _, text := range []string{
		fmt.Sprintf("Starting job: %s training", t.job.Model),
		fmt.Sprintf("Building 1-D device mesh with ['dp_shard'], [%d]", t.job.worldSize()),
		fmt.Sprintf("Peak FLOPS used for computing MFU: %.3e", f.PeakTFLOPS*1e12),
		fmt.Sprintf("Trainer is initialized with local batch size %d, global batch size %d, gradient accumulation steps 1, sequence length %d, total steps %d (warmup 2)",
			f.LocalBatch, f.LocalBatch*t.job.worldSize(), f.Sequence, t.job.Steps),
		"Training starts at step 1",
	} {
		if err := t.log(w, rank, at, "%s", text); err != nil {
			return err
		}
	}
	return nil
}

func (t torchtitanLines) step(w io.Writer, rank, step int, at time.Time) error {
	m := t.model
	tflops := m.tflops(rank, step)
	memory := m.memory(rank, step)
	return t.log(w, rank, at, "step: %2d  loss: %s  grad_norm: %s  memory: %5.2fGiB(%.2f%%)  tps: %s  tflops: %.2f  mfu: %.2f%%",
		step, python("%8.5f", m.loss[step-1]), python("%7.4f", m.norm[step-1]), memory, 100*memory/t.job.MemoryGiB,
		thousands(int(m.tps(rank, step)+0.5)), tflops, 100*tflops/t.job.Figures.PeakTFLOPS)
}

func (t torchtitanLines) end(w io.Writer, rank int, at time.Time) error {
	if err := t.log(w, rank, at, "Training completed"); err != nil {
		return err
	}
	return t.log(w, rank, at, "Process group destroyed")
}

// python formats a number as Python does, which prints NaN as nan.
func python(format string, v float64) string {
	return strings.ReplaceAll(fmt.Sprintf(format, v), "NaN", "nan")
}

// thousands formats 4376 as 4,376.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
