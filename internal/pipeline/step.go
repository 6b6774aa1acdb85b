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

// The ways to a GPU: a claim of dynamic resource allocation, or a device plugin's
// extended resource.
const (
	DRA          = "dra"
	DevicePlugin = "device-plugin"
)

// Claim is GPUs that a step takes.
type Claim struct {
	// Check of the step that takes them: those of one step are taken one after the other.
	Check string `yaml:"check" json:"check"`
	// GPUs that it takes at one time, from 1.
	GPUs int `yaml:"gpus" json:"gpus"`
	// Through is DRA or DevicePlugin.
	Through string `yaml:"through" json:"through"`
	// Holds says that they are not given back before the pipeline ends.
	Holds bool `yaml:"holds" json:"holds,omitempty"`
}

// Step of the pipeline.
type Step struct {
	Name  string `yaml:"name" json:"name"`
	Title string `yaml:"title" json:"title"`
	// For are the intents that have it; none: all.
	For []Intent `yaml:"for" json:"for,omitempty"`
	// Needs are the steps that come before it, of those that the intent has.
	Needs []string `yaml:"needs" json:"needs,omitempty"`
	// ContinueOnFailure are those of Needs that may fail.
	ContinueOnFailure []string `yaml:"continueOnFailure" json:"continueOnFailure,omitempty"`
	Claims            []Claim  `yaml:"claims" json:"claims,omitempty"`
	// Proves is what is known after it, Because why it comes where it does.
	Proves  string `yaml:"proves" json:"proves"`
	Because string `yaml:"because" json:"because"`
}

// Most is the most GPUs that the step takes at one time, and the check that does.
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

// Held are the GPUs that it does not give back.
func (s Step) Held() int {
	n := 0
	for _, c := range s.Claims {
		if c.Holds {
			n += c.GPUs
		}
	}
	return n
}
