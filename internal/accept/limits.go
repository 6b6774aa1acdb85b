package accept

import (
	"bytes"
	_ "embed" // the limits
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

//go:embed limits.yaml
var limitsFile []byte

// limits bound the reuse of verdicts.
type limits struct {
	// MaxAge of a verdict that is kept, in hours.
	MaxAge profile.Figure `yaml:"maxAge"`
}

func (l limits) maxAge() time.Duration { return time.Duration(l.MaxAge.Value * float64(time.Hour)) }

// loadLimits reads what is embedded.
var loadLimits = sync.OnceValues(func() (limits, error) {
	var l limits
	dec := yaml.NewDecoder(bytes.NewReader(limitsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil {
		return limits{}, fmt.Errorf("read limits.yaml: %w", err)
	}
	if l.MaxAge.Value <= 0 || l.MaxAge.Unit != "h" || l.MaxAge.Source == "" {
		return limits{}, fmt.Errorf("invalid limits.yaml: maxAge must be positive, in h, with a source: %+v", l.MaxAge)
	}
	return l, nil
})
