package drift

import (
	"bytes"
	_ "embed" // bands.yaml
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed bands.yaml
var bandsFile []byte

// band of a kind of figures; see bands.yaml.
type band struct {
	Warn    float64 `yaml:"warn"`
	Replace float64 `yaml:"replace"`
	Noise   float64 `yaml:"noise"`
	Source  string  `yaml:"source"`
}

func (b band) complete() bool { return b.Warn > 0 && b.Replace > b.Warn && b.Source != "" }

type sizesBand struct {
	band `yaml:",inline"`
	// FromBytes is the smallest size with a figure.
	FromBytes int64 `yaml:"fromBytes"`
}

type slowdownBand struct {
	band       `yaml:",inline"`
	Deviations float64 `yaml:"deviations"`
	LeastSteps int     `yaml:"leastSteps"`
}

type bands struct {
	Gates    map[string]band `yaml:"gates"`
	Sizes    sizesBand       `yaml:"sizes"`
	Goodput  band            `yaml:"goodput"`
	Slowdown slowdownBand    `yaml:"slowdown"`
	// Deviations of the difference that noise does not exceed.
	Deviations float64 `yaml:"deviations"`
}

func loadBands() (bands, error) {
	b, err := parseBands(bandsFile)
	if err != nil {
		return bands{}, fmt.Errorf("decode the bands: %w", err)
	}
	return b, nil
}

func parseBands(data []byte) (bands, error) {
	var b bands
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&b); err != nil {
		return bands{}, fmt.Errorf("invalid YAML: %w", err)
	}
	for _, name := range measured() {
		if g := b.Gates[name]; !g.complete() || g.Noise <= 0 || b.Deviations <= 0 {
			return bands{}, fmt.Errorf("incomplete bands of gate %s", name)
		}
	}
	switch {
	case !b.Sizes.complete() || b.Sizes.Noise <= 0 || b.Sizes.FromBytes <= 0:
		return bands{}, errors.New("incomplete bands of sizes")
	case !b.Goodput.complete():
		return bands{}, errors.New("incomplete bands of goodput")
	case !b.Slowdown.complete() || b.Slowdown.Deviations <= 0 || b.Slowdown.LeastSteps < 1:
		return bands{}, errors.New("incomplete bands of slowdown")
	}
	return b, nil
}
