package cluster

import (
	"fmt"
	"io"
	"time"
)

// proftest simulates dcgmproftester: tensor load on every GPU of the pod for the given duration.
func (w *worker) proftest(out io.Writer, gpus []int) (int, error) {
	seconds, ok := w.env.number("DURATION", 60)
	if !ok {
		return usage(out, "Invalid value for argument -d: %q", w.env["DURATION"])
	}
	if len(gpus) == 0 {
		return usage(out, "No GPUs were found")
	}
	if err := w.setLoad(gpus, proftestLoad()); err != nil {
		return 1, err
	}
	if _, err := fmt.Fprintln(out, "Skipping CreateDcgmGroups() since DCGM validation is disabled"); err != nil {
		return 1, fmt.Errorf("run load: %w", err)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := range seconds {
		select {
		case <-w.ctx.Done():
			return 0, nil
		case <-tick.C:
		}
		for worker, gpu := range gpus {
			// Variation of 1.5 %, different for every GPU and second.
			gflops := 681000 * (1 + 0.015*float64((i*7+gpu*3)%11-5)/5)
			if _, err := fmt.Fprintf(out, "Worker %d:%d[1004]: TensorEngineActive: generated ???, dcgm 0.000 (%.2e gflops)\n", worker, i, gflops); err != nil {
				return 1, fmt.Errorf("run load: %w", err)
			}
		}
	}
	return 0, nil
}
