package drift

import (
	"bytes"
	_ "embed" // bands.yaml
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed bands.yaml
var bandsFile []byte

// band of the figures of one gate; see bands.yaml.
type band struct {
	Warn    float64 `yaml:"warn"`
	Replace float64 `yaml:"replace"`
	Noise   float64 `yaml:"noise"`
	Source  string  `yaml:"source"`
}

type bands struct {
	Gates map[string]band `yaml:"gates"`
	// Deviations of the difference that noise does not exceed.
	Deviations float64 `yaml:"deviations"`
}

func loadBands() (bands, error) {
	var b bands
	dec := yaml.NewDecoder(bytes.NewReader(bandsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&b); err != nil {
		return bands{}, fmt.Errorf("decode the bands: %w", err)
	}
	for _, name := range measured() {
		if g := b.Gates[name]; g.Warn <= 0 || g.Replace <= g.Warn || g.Noise <= 0 || g.Source == "" || b.Deviations <= 0 {
			return bands{}, fmt.Errorf("incomplete bands of gate %s", name)
		}
	}
	return b, nil
}
