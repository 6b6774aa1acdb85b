package impact

import (
	"fmt"
	"strings"
)

// Event is what a plan is made for.
type Event string

// The events, named as GitHub names them.
const (
	PullRequest Event = "pull_request"
	Push        Event = "push"
	Schedule    Event = "schedule"
	Dispatch    Event = "dispatch"
)

// Events are all of them.
func Events() []Event { return []Event{PullRequest, Push, Schedule, Dispatch} }

// ParseEvent refuses what is no event.
func ParseEvent(text string) (Event, error) {
	var names []string
	for _, e := range Events() {
		if text == string(e) || e == Dispatch && text == "workflow_"+string(e) {
			return e, nil
		}
		names = append(names, string(e))
	}
	return "", fmt.Errorf("event %q: there are %s", text, strings.Join(names, ", "))
}

// Everything says that an event tests all recipes, each member of a class.
func (e Event) everything() bool { return e == Push || e == Schedule }

// Tiers.
const (
	// Named are recipes that somebody asked for by name.
	Named = 0
	// Generic are tested with every change: a service, whatever the accelerator.
	Generic = 1
	// Affected are those that a change affects.
	Affected = 2
	// All is every recipe, on merge and at night.
	All = 3
)
