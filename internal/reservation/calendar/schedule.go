package calendar

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

// Action is what an entry starts.
type Action string

// Actions.
const (
	// Up stands deployments for people up; they have them until the next Down is done.
	Up Action = "up"
	// Down drains them and tears them down.
	Down Action = "down"
	// Batch runs the version matrix.
	Batch Action = "batch"
)

// Actions are those that there are.
func Actions() []Action { return []Action{Up, Down, Batch} }

// Schedule is what one schedule.yaml holds. It comes from Parse or Load, and
// does not change.
type Schedule struct {
	entries []Entry
	margins []Margin
}

// Entry is a time that comes again.
type Entry struct {
	Name   string `json:"name"`
	Action Action `json:"action"`
	// Cron is minute, hour, day of the month, month and day of the week, by the
	// clock of Zone.
	Cron string `json:"cron"`
	// Zone is a name of the time zone database.
	Zone string `json:"zone"`
	// Window is how long what is started may take.
	Window time.Duration `json:"window"`

	fields fields
	zone   *time.Location
	pos    diag.Pos
}

// Margin is what has to be between two entries.
type Margin struct {
	From, To string
	// AtLeast is from an occurrence of From to the next one of To.
	AtLeast time.Duration
	// FromStart counts from where From starts, instead of where its window ends.
	FromStart bool

	pos diag.Pos
}

// Sentinels of Next.
var (
	ErrNoEntry = errors.New("the schedule has no such entry")
	ErrNever   = errors.New("it does not occur within five years")
)

// Entries are those of the file, in its order.
func (s *Schedule) Entries() []Entry { return slices.Clone(s.entries) }

// Margins are those of the file, in its order.
func (s *Schedule) Margins() []Margin { return slices.Clone(s.margins) }

// Entry finds one by its name; the error is ErrNoEntry.
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
