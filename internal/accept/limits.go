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

// limits are the maximum age of reused verdicts and the times of a run's Lease.
type limits struct {
	// MaxAge of a kept verdict, in hours.
	MaxAge profile.Figure `yaml:"maxAge"`
	// MaxAgeOfBase of an accepted run that nodes are added to, in hours.
	MaxAgeOfBase profile.Figure `yaml:"maxAgeOfBase"`
	// Lease is the duration of a run's Lease, Renewal its renewal interval, in seconds.
	Lease   profile.Figure `yaml:"lease"`
	Renewal profile.Figure `yaml:"renewal"`
}

func (l limits) maxAge() time.Duration { return time.Duration(l.MaxAge.Value * float64(time.Hour)) }

func (l limits) lease() time.Duration { return l.Lease.Duration() }

func (l limits) renewal() time.Duration {
	return l.Renewal.Duration()
}

// MaxAgeOfBase is the age from which an accepted run is too old to add nodes to it.
func MaxAgeOfBase() (time.Duration, error) {
	l, err := loadLimits()
	return time.Duration(l.MaxAgeOfBase.Value * float64(time.Hour)), err
}

// loadLimits reads the embedded file.
var loadLimits = sync.OnceValues(func() (limits, error) {
	var l limits
	dec := yaml.NewDecoder(bytes.NewReader(limitsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil {
		return limits{}, fmt.Errorf("cannot read limits.yaml: %w", err)
	}
	for _, f := range []struct {
		name, unit string
		profile.Figure
	}{{"maxAge", "h", l.MaxAge}, {"maxAgeOfBase", "h", l.MaxAgeOfBase}, {"lease", "s", l.Lease}, {"renewal", "s", l.Renewal}} {
		if f.Value <= 0 || f.Unit != f.unit || f.Source == "" {
			return limits{}, fmt.Errorf("invalid limits.yaml: %s must be positive, in %s, with a source: %+v", f.name, f.unit, f.Figure)
		}
	}
	return l, nil
})
