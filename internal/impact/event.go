package impact

import (
	"fmt"
	"strings"
)

// Event is the trigger of a plan.
type Event string

// Events have the names that GitHub uses.
const (
	PullRequest Event = "pull_request"
	Push        Event = "push"
	Schedule    Event = "schedule"
	Dispatch    Event = "dispatch"
)

// Events returns all events.
func Events() []Event { return []Event{PullRequest, Push, Schedule, Dispatch} }

// ParseEvent also accepts workflow_dispatch for Dispatch.
func ParseEvent(text string) (Event, error) {
	var names []string
	for _, e := range Events() {
		if text == string(e) || e == Dispatch && text == "workflow_"+string(e) {
			return e, nil
		}
		names = append(names, string(e))
	}
	return "", fmt.Errorf("unknown event %q: want one of %s", text, strings.Join(names, ", "))
}

// everything reports whether an event tests all recipes, each member of a class.
func (e Event) everything() bool { return e == Push || e == Schedule }

// Tiers.
const (
	// Named has recipes selected by name.
	Named = 0
	// Generic has recipes for a service with any accelerator; every change is tested with them.
	Generic = 1
	// Affected has the recipes that a change affects.
	Affected = 2
	// All has every recipe, on merge and nightly.
	All = 3
)
