package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Names of the rehearsed reservations; see data/reservations.yaml.
const (
	trainingCloud  = "aws-h100"
	inferenceCloud = "gcp-h100"
	byHandOnly     = "aws-h200"
)

// event is something that somebody does.
type event struct {
	at   time.Time
	what string
	// when tells that its time has come, beside the time of day; nil: at once.
	when func(ctx context.Context, p *runner) (bool, error)
	do   func(ctx context.Context, p *runner) error
	// done is set when it has happened.
	done bool
}

// scene is what happens on one day, from its morning to the next, and what comes of it.
type scene struct {
	// name is what it is chosen by, title what it is about.
	name, title string
	events      func(morning time.Time) []*event
	expect      func(m dayRecord) []Finding
}

// clockTime is a time of the day that begins in the morning; hours from 0 to 14 are of the
// next date.
func clockTime(morning time.Time, hour, minute int) time.Time {
	t := time.Date(morning.Year(), morning.Month(), morning.Day(), hour, minute, 0, 0, time.UTC)
	if hour < morning.Hour() {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// week are the scenes in their order; a longer rehearsal begins again.
func week() []scene {
	return []scene{quietDay(), forgotten(), missedTeardown(), crash(), fullQueue(), brokenCloud(), twoControllers()}
}

// Scenes are the names of those that there are.
func Scenes() []string {
	var out []string
	for _, s := range week() {
		out = append(out, s.name)
	}
	return out
}

// chosen are the scenes of these names, all without any. It fails on a name that is none.
func chosen(names []string) ([]scene, error) {
	if len(names) == 0 {
		return week(), nil
	}
	var out []scene
	for _, name := range names {
		i := slices.Index(Scenes(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no scene %q; there are %s", name, strings.Join(Scenes(), ", "))
		}
		out = append(out, week()[i])
	}
	return out, nil
}
