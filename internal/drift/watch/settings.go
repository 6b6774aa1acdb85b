package watch

import (
	"bytes"
	_ "embed" // watch.yaml
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed watch.yaml
var settingsFile []byte

type setting[T any] struct {
	Value  T      `yaml:"value"`
	Source string `yaml:"source"`
}

// settings are the figures of watch.yaml.
type settings struct {
	Interval       setting[time.Duration] `yaml:"interval"`
	Jitter         setting[float64]       `yaml:"jitter"`
	HostFraction   setting[float64]       `yaml:"hostFraction"`
	HostTimeout    setting[time.Duration] `yaml:"hostTimeout"`
	StaleIntervals setting[float64]       `yaml:"staleIntervals"`
	Confirm        setting[int]           `yaml:"confirm"`
	FlapFailures   setting[int]           `yaml:"flapFailures"`
	FlapWindow     setting[int]           `yaml:"flapWindow"`
}

func loadSettings() (settings, error) {
	var s settings
	dec := yaml.NewDecoder(bytes.NewReader(settingsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		return settings{}, fmt.Errorf("decode the settings of the watch: %w", err)
	}
	sources := []string{s.Interval.Source, s.Jitter.Source, s.HostFraction.Source, s.HostTimeout.Source, s.StaleIntervals.Source, s.Confirm.Source, s.FlapFailures.Source, s.FlapWindow.Source}
	if slices.Contains(sources, "") {
		return settings{}, fmt.Errorf("incomplete settings of the watch: each of the %d figures needs a source", len(sources))
	}
	if s.Interval.Value <= 0 || s.Jitter.Value < 0 || s.Jitter.Value >= 1 || s.HostFraction.Value <= 0 || s.HostFraction.Value > 1 || s.HostTimeout.Value <= 0 ||
		s.StaleIntervals.Value <= 1 || s.Confirm.Value < 1 || s.FlapFailures.Value <= s.Confirm.Value || s.FlapWindow.Value <= s.FlapFailures.Value {
		return settings{}, fmt.Errorf("invalid settings of the watch: %+v", s)
	}
	return s, nil
}

// DefaultInterval is the time from the start of a round to the next.
func DefaultInterval() (time.Duration, error) {
	s, err := loadSettings()
	return s.Interval.Value, err
}
