package report

import (
	_ "embed" // default thresholds
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

//go:embed thresholds.yaml
var defaultThresholds []byte

// Thresholds define flaky and stale cells, with reasons.
type Thresholds struct {
	Flaky Flaky `yaml:"flaky" json:"flaky"`
	Stale Stale `yaml:"stale" json:"stale"`
}

// Flaky limits flaky cells: at least Flips changes between passed and failed, at one version, in the newest Nights.
type Flaky struct {
	Nights int    `yaml:"nights" json:"nights"`
	Flips  int    `yaml:"flips" json:"flips"`
	Reason string `yaml:"reason" json:"reason"`
}

// Stale limits stale cells: not run for more than Days.
type Stale struct {
	Days   int    `yaml:"days" json:"days"`
	Reason string `yaml:"reason" json:"reason"`
}

var errThresholds = errors.New("invalid thresholds: flaky needs nights above 1, flips from 1 to nights-1 and a reason; stale needs days above 0 and a reason")

// DefaultThresholds returns the thresholds in the binary.
func DefaultThresholds() (Thresholds, error) {
	return parseThresholds("thresholds.yaml", defaultThresholds)
}

func parseThresholds(name string, data []byte) (Thresholds, error) {
	var t Thresholds
	if _, problems := config.DecodeYAML(name, data, &t); problems.Err() != nil {
		return Thresholds{}, problems.Sort().Err()
	}
	if f, s := t.Flaky, t.Stale; f.Nights < 2 || f.Flips < 1 || f.Flips >= f.Nights || f.Reason == "" || s.Days < 1 || s.Reason == "" {
		return Thresholds{}, fmt.Errorf("%s: %w", name, errThresholds)
	}
	return t, nil
}
