package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Names of the reservations in data/reservations.yaml.
const (
	trainingCloud  = "aws-h100"
	inferenceCloud = "gcp-h100"
	byHandOnly     = "aws-h200"
)

// event is a scripted action.
type event struct {
	at   time.Time
	what string
	// when is an additional condition; nil: none.
	when func(ctx context.Context, p *runner) (bool, error)
	do   func(ctx context.Context, p *runner) error
	done bool
}

// scene is the script of one day, with its expected result.
type scene struct {
	name, title string
	events      func(morning time.Time) []*event
	expect      func(m dayRecord) []Finding
}

// clockTime returns a time of the day that starts in the morning; hours from 0 to 14 belong to the
// next date.
func clockTime(morning time.Time, hour, minute int) time.Time {
	t := time.Date(morning.Year(), morning.Month(), morning.Day(), hour, minute, 0, 0, time.UTC)
	if hour < morning.Hour() {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// week returns the scenes in order; a longer simulation repeats them.
func week() []scene {
	return []scene{quietDay(), forgotten(), missedTeardown(), crash(), fullQueue(), brokenCloud(), twoControllers()}
}

// Scenes returns the names of the scenes.
func Scenes() []string {
	var out []string
	for _, s := range week() {
		out = append(out, s.name)
	}
	return out
}

// chosen returns the scenes with these names, or all.
func chosen(names []string) ([]scene, error) {
	if len(names) == 0 {
		return week(), nil
	}
	var out []scene
	for _, name := range names {
		i := slices.Index(Scenes(), name)
		if i < 0 {
			return nil, fmt.Errorf("unknown scene %q: want one of %s", name, strings.Join(Scenes(), ", "))
		}
		out = append(out, week()[i])
	}
	return out, nil
}
