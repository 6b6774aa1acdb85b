package training

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// GPU is one GPU of a pod as what runs before the training measures it.
type GPU struct {
	UUID   string
	TFLOPS float64
	// PowerLimit and PowerDefault are in W, SMClock in MHz, all under load.
	PowerLimit, PowerDefault, SMClock float64
}

// WriteMatmul prints what the measurement of a pod's GPUs prints, in their order. The
// first of them has the global rank first. Figures vary a little, by the seed.
func WriteMatmul(w io.Writer, first int, gpus []GPU, seed uint64) error {
	const spread = 0.03 // from the slowest healthy GPU to the fastest
	for i, g := range gpus {
		rng := rand.New(rand.NewPCG(seed, uint64(first+i))) //nolint:gosec // a model's noise, no secret
		tflops := g.TFLOPS * (1 + spread*(rng.Float64()-0.5))
		if _, err := fmt.Fprintf(w, "gpu matmul: {\"rank\": %d, \"device\": %d, \"uuid\": %q, \"size\": 8192, \"seconds\": %.2f, \"tflops\": %.2f, \"powerLimitWatts\": %.1f, \"powerDefaultWatts\": %.1f, \"smClockMHz\": %.1f}\n",
			first+i, i, g.UUID, 10+0.05*rng.Float64(), tflops, g.PowerLimit, g.PowerDefault, g.SMClock); err != nil {
			return fmt.Errorf("write the measurement of GPUs: %w", err)
		}
	}
	return nil
}
