package training

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// GPU is one GPU as measured before the training.
type GPU struct {
	UUID   string
	TFLOPS float64
	// PowerLimit and PowerDefault are in W, SMClock in MHz, all under load.
	PowerLimit, PowerDefault, SMClock float64
}

// WriteMatmul prints the measurement of a pod's GPUs in order; first is the global rank of the
// first. The seed determines a small variation.
func WriteMatmul(w io.Writer, first int, gpus []GPU, seed uint64) error {
	const spread = 0.03 // between the slowest and the fastest healthy GPU
	for i, g := range gpus {
		rng := rand.New(rand.NewPCG(seed, uint64(first+i))) //nolint:gosec // noise of a model, no secret
		tflops := g.TFLOPS * (1 + spread*(rng.Float64()-0.5))
		if _, err := fmt.Fprintf(w, "gpu matmul: {\"rank\": %d, \"device\": %d, \"uuid\": %q, \"size\": 8192, \"seconds\": %.2f, \"tflops\": %.2f, \"powerLimitWatts\": %.1f, \"powerDefaultWatts\": %.1f, \"smClockMHz\": %.1f}\n",
			first+i, i, g.UUID, 10+0.05*rng.Float64(), tflops, g.PowerLimit, g.PowerDefault, g.SMClock); err != nil {
			return fmt.Errorf("write the measurement of GPUs: %w", err)
		}
	}
	return nil
}
