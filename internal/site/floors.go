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
	Soak profile.Figure `yaml:"soak"` // s
	// ScrapeInterval is the longest one, in s: the freshness of telemetry is a multiple of it.
	ScrapeInterval profile.Figure `yaml:"scrapeInterval"`
	RuleWithin     profile.Figure `yaml:"ruleWithin"` // s, the longest
	Steps          profile.Figure `yaml:"steps"`      // of the training job
	// Of the inference load; Rate in requests/s, tokens of a request.
	Requests     profile.Figure `yaml:"requests"`
	Rate         profile.Figure `yaml:"rate"`
	Concurrency  profile.Figure `yaml:"concurrency"`
	InputTokens  profile.Figure `yaml:"inputTokens"`
	OutputTokens profile.Figure `yaml:"outputTokens"`
	// GoldenWords are the words of the greedy completion that is compared.
	GoldenWords profile.Figure `yaml:"goldenWords"`
	Window      profile.Figure `yaml:"window"` // s, of the chain without load
	Gang        profile.Figure `yaml:"gang"`   // pods of the chain's gang
	// HealthWithin is the longest wait for an assertion on a component's health, in s.
	HealthWithin profile.Figure `yaml:"healthWithin"`
	// Settings are the longest ones of the chain by name, in s: each lengthens deadlines.
	Settings map[string]profile.Figure `yaml:"settings"`
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
