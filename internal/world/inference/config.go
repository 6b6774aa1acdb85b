package inference

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// blockTokens is the size of a KV-cache block.
const blockTokens = 16

// Config is the model server to simulate.
type Config struct {
	// Model is the served name; Root is the origin if different.
	Model, Root string
	// Aliases are further served names.
	Aliases     []string
	MaxModelLen int
	// GPUs is the tensor parallel size; their memory adds up.
	GPUs    int
	Figures world.HardwareInference
	// Modifiers is called for every request and step, so that faults affect a running server.
	Modifiers func() world.Inference
	// Now defaults to time.Now.
	Now func() time.Time
}

// ContextError is returned if a request of the maximum length does not fit the KV cache.
type ContextError struct {
	MaxModelLen int
	CacheTokens int
}

func (e *ContextError) Error() string {
	return fmt.Sprintf("The model's max seq len (%d) is larger than the maximum number of tokens that can be stored in KV cache (%d). "+
		"Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.", e.MaxModelLen, e.CacheTokens)
}

func (c Config) validate() error {
	var errs []error
	if c.Model == "" {
		errs = append(errs, errors.New("config: Model is required"))
	}
	if c.MaxModelLen < 1 {
		errs = append(errs, fmt.Errorf("invalid max model len %d: must be positive", c.MaxModelLen))
	}
	if c.GPUs < 1 {
		errs = append(errs, fmt.Errorf("invalid %d GPUs: must be positive", c.GPUs))
	}
	if c.Modifiers == nil {
		errs = append(errs, errors.New("config: Modifiers is required"))
	}
	if c.Figures.PrefillTokensPerSecond <= 0 || c.Figures.TPOTMs <= 0 || c.Figures.MaxNumSeqs < 1 {
		errs = append(errs, errors.New("config: Figures is required"))
	}
	return errors.Join(errs...)
}

// cacheTokens is the KV cache's capacity; broken: other allocations use the memory.
func (c Config) cacheTokens(broken bool) int {
	tokens := c.Figures.KVCacheTokens * c.GPUs
	if broken {
		tokens = min(c.Figures.BrokenKVCacheTokens, c.MaxModelLen*3/10)
	}
	return tokens / blockTokens * blockTokens
}
