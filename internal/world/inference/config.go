package inference

import (
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/world"
)

// blockTokens is the size of a KV-cache block.
const blockTokens = 16

// Config of a Server.
type Config struct {
	// Model is the name that it is served under; Root is where it is from, when that
	// is something else.
	Model, Root string
	MaxModelLen int
	// GPUs that the model is spread over (tensor parallel); their memory adds up.
	GPUs    int
	Figures world.HardwareInference
	// Modifiers are read again for every request and step, so that a fault
	// takes effect on a running server.
	Modifiers func() world.Inference
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// ContextError says that one request of the longest kind doesn't fit the cache.
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
		errs = append(errs, errors.New("no model"))
	}
	if c.MaxModelLen < 1 {
		errs = append(errs, fmt.Errorf("max model len %d", c.MaxModelLen))
	}
	if c.GPUs < 1 {
		errs = append(errs, fmt.Errorf("%d GPUs", c.GPUs))
	}
	if c.Modifiers == nil {
		errs = append(errs, errors.New("no modifiers"))
	}
	if c.Figures.PrefillTokensPerSecond <= 0 || c.Figures.TPOTMs <= 0 || c.Figures.MaxNumSeqs < 1 {
		errs = append(errs, errors.New("no figures"))
	}
	return errors.Join(errs...)
}

// cacheTokens is how much the KV cache holds; broken: something else has the memory.
func (c Config) cacheTokens(broken bool) int {
	tokens := c.Figures.KVCacheTokens * c.GPUs
	if broken {
		tokens = min(c.Figures.BrokenKVCacheTokens, c.MaxModelLen*3/10)
	}
	return tokens / blockTokens * blockTokens
}
