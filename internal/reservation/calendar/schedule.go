package calendar

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/diag"
)

// Action of an entry.
type Action string

// Actions of entries.
const (
	// Up starts the deployments for people, who have them until the next Down.
	Up Action = "up"
	// Down drains and removes the deployments.
	Down Action = "down"
	// Batch runs the version matrix.
	Batch Action = "batch"
)

// Actions returns the known actions.
func Actions() []Action { return []Action{Up, Down, Batch} }

// Schedule is the content of schedule.yaml. It is immutable.
type Schedule struct {
	entries []Entry
	margins []Margin
}

// Entry is a recurring time.
type Entry struct {
	Name   string `json:"name"`
	Action Action `json:"action"`
	// Cron is minute, hour, day of the month, month and day of the week, in Zone.
	Cron string `json:"cron"`
	// Zone is a name of the time zone database.
	Zone string `json:"zone"`
	// Window is the longest duration of the action.
	Window metav1.Duration `json:"window"`

	fields fields
	zone   *time.Location
	pos    diag.Pos
}

// Margin is the least time between two entries.
type Margin struct {
	From, To string
	// AtLeast is the time from an occurrence of From to the next one of To.
	AtLeast time.Duration
	// FromStart counts from the start of From instead of the end of its window.
	FromStart bool

	pos diag.Pos
}

// Errors of Next and Entry.
var (
	ErrNoEntry = errors.New("entry not found in the schedule")
	ErrNever   = errors.New("no occurrence within five years")
)

// Entries returns the entries in the order of the file.
func (s *Schedule) Entries() []Entry { return slices.Clone(s.entries) }

// Entry returns an entry, or ErrNoEntry.
func (s *Schedule) Entry(name string) (Entry, error) {
	e := s.entry(name)
	if e == nil {
		return Entry{}, fmt.Errorf("entry %q: %w", name, ErrNoEntry)
	}
	return *e, nil
}

func (s *Schedule) entry(name string) *Entry {
	i := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &s.entries[i]
}
