package site

import (
	"bytes"
	_ "embed" // the floors
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/profile"
)

//go:embed data/floors.yaml
var floorsFile []byte

// Floors are the least that gates demand where the profile has no figure for it.
type Floors struct {
	Soak     profile.Figure `yaml:"soak"`     // s
	Requests profile.Figure `yaml:"requests"` // of the inference load
	// GoldenWords are the words of the greedy completion that is compared.
	GoldenWords profile.Figure `yaml:"goldenWords"`
}

// LoadFloors reads what is embedded.
var LoadFloors = sync.OnceValues(func() (Floors, error) {
	var f Floors
	dec := yaml.NewDecoder(bytes.NewReader(floorsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil {
		return Floors{}, fmt.Errorf("read floors.yaml: %w", err)
	}
	return f, nil
})
