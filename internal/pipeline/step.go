package pipeline

import (
	"fmt"
	"strings"
)

// Intent is what a cluster is validated for.
type Intent string

// The intents.
const (
	Conformance Intent = "conformance"
	Training    Intent = "training"
	Inference   Intent = "inference"
)

// Intents returns all intents.
func Intents() []Intent { return []Intent{Conformance, Training, Inference} }

// ParseIntent reads the name of an intent.
func ParseIntent(name string) (Intent, error) {
	var all []string
	for _, i := range Intents() {
		if string(i) == name {
			return i, nil
		}
		all = append(all, string(i))
	}
	return "", fmt.Errorf("unknown intent %q: want one of %s", name, strings.Join(all, ", "))
}

// How a step claims GPUs: by dynamic resource allocation, or as the extended resource of a
// device plugin.
const (
	DRA          = "dra"
	DevicePlugin = "device-plugin"
)

// Claim is GPUs that a check of a step uses.
type Claim struct {
	// Check of the step. The checks of a step run one after the other.
	Check string `yaml:"check" json:"check"`
	// GPUs in use at one time, at least 1.
	GPUs int `yaml:"gpus" json:"gpus"`
	// Through is DRA or DevicePlugin.
	Through string `yaml:"through" json:"through"`
	// Holds: the GPUs are released at the end of the pipeline.
	Holds bool `yaml:"holds" json:"holds,omitempty"`
}

// Step of the pipeline.
type Step struct {
	Name  string `yaml:"name" json:"name"`
	Title string `yaml:"title" json:"title"`
	// For are the intents that have the step; empty: all.
	For []Intent `yaml:"for" json:"for,omitempty"`
	// Needs are the steps that must run before it, if the intent has them.
	Needs []string `yaml:"needs" json:"needs,omitempty"`
	// ContinueOnFailure are those of Needs that may fail.
	ContinueOnFailure []string `yaml:"continueOnFailure" json:"continueOnFailure,omitempty"`
	Claims            []Claim  `yaml:"claims" json:"claims,omitempty"`
	// Proves is the fact that a pass of the step shows, Because the reason for its position.
	Proves  string `yaml:"proves" json:"proves"`
	Because string `yaml:"because" json:"because"`
}

// Most returns the most GPUs in use at one time, and their check.
func (s Step) Most() (gpus int, check string) {
	held := s.Held()
	for _, c := range s.Claims {
		n := held
		if !c.Holds {
			n += c.GPUs
		}
		if n > gpus {
			gpus, check = n, c.Check
		}
	}
	return gpus, check
}

// Held counts the GPUs that the step holds until the end.
func (s Step) Held() int {
	n := 0
	for _, c := range s.Claims {
		if c.Holds {
			n += c.GPUs
		}
	}
	return n
}
