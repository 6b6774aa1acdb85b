package trainer

import (
	"fmt"
	"io"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxGPUs is the most GPUs of one log.
const maxGPUs = 64

// MatmulGPU is one measured GPU.
type MatmulGPU struct {
	// Rank is the global rank of the GPU.
	Rank int `json:"rank"`
	// Device is its index in the pod.
	Device int `json:"device"`
	// UUID is empty if the PyTorch of the trainer does not report it.
	UUID string `json:"uuid,omitempty"`
	// Size is the number of rows of the square BF16 matrices.
	Size    int     `json:"size"`
	Seconds float64 `json:"seconds"`
	TFLOPS  float64 `json:"tflops"`
	// PowerLimit and the card's own, in W, and the SM clock in MHz, by nvidia-smi while the
	// MatmulGPU worked; nil where it did not tell.
	PowerLimit   *float64 `json:"powerLimitWatts,omitempty"`
	PowerDefault *float64 `json:"powerDefaultWatts,omitempty"`
	SMClock      *float64 `json:"smClockMHz,omitempty"`
}

// ParseMatmul parses the lines of the single-GPU measurement, in order. A line that cannot be
// parsed, or more than maxGPUs lines, is an error.
func ParseMatmul(r io.Reader) ([]MatmulGPU, error) {
	return guard.Parse("GPU measurement", func() ([]MatmulGPU, error) {
		out, err := jsonLines[MatmulGPU](r, "gpu matmul: ", maxGPUs)
		if err != nil {
			return out, fmt.Errorf("read GPU measurement: %w", err)
		}
		return out, nil
	})
}
