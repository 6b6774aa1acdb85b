package evidence

import (
	"fmt"
	"strings"
	"time"
)

// Claim is one thing that run.json says, and what it rests on.
type Claim struct {
	// Field is its place: a key of run.json, or "dates".
	Field string `json:"field"`
	Value string `json:"value"`
	Basis Basis  `json:"basis"`
	// By is what shows it.
	By string `json:"by,omitempty"`
}

// Basis is what a Claim rests on.
type Basis string

// The bases.
const (
	// Observed: what was observed shows it, or the run's other files do.
	Observed Basis = "observed"
	// Claimed: nothing in the run shows it. Who made the run says so.
	Claimed Basis = "claimed"
)

// Contradiction is a place in which the run says what its observations do not show.
type Contradiction struct {
	// Field is as of Claim.
	Field   string `json:"field"`
	Message string `json:"message"`
}

// String is the contradiction as a line.
func (c Contradiction) String() string { return c.Field + ": " + c.Message }

// clockStep is how far the clock of a machine may be set back while a run lasts. NTP steps a
// clock that is off by more than 128 ms; an hour would be a forgery.
const clockStep = time.Minute

// Dates holds every date of the run against the others: its ID, its journal, its results and
// its observations.
func (b *Bundle) Dates() ([]Contradiction, error) {
	d := dates{b: b}
	d.run()
	d.journal()
	if err := d.results(); err != nil {
		return nil, err
	}
	return d.found, nil
}

type dates struct {
	b     *Bundle
	found []Contradiction
}

func (d *dates) contradict(field, format string, args ...any) {
	d.found = append(d.found, Contradiction{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (d *dates) run() {
	h := d.b.Header
	if !strings.HasPrefix(h.Run, h.Created.UTC().Format(runTime)+"-") {
		d.contradict("created", "run.json says %s, the run's ID is %s", stamp(h.Created), h.Run)
	}
	if len(d.b.Entries) == 0 {
		return
	}
	if first := d.b.Entries[0]; first.Type != EntryCreated || !first.At.Equal(h.Created) {
		d.contradict("created", "run.json says %s, the journal begins with %s of %s", stamp(h.Created), first.Type, stamp(first.At))
	}
}

// journal goes on in time.
func (d *dates) journal() {
	for i := 1; i < len(d.b.Entries); i++ {
		before, e := d.b.Entries[i-1], d.b.Entries[i]
		if e.At.Before(before.At.Add(-clockStep)) {
			d.contradict("journal", "entry %d is of %s, the one before it of %s", e.Seq, stamp(e.At), stamp(before.At))
		}
	}
}

// results are of the time of their attempt, and so is what was observed for them. A kept
// result is older than the run.
func (d *dates) results() error {
	begun := map[string]time.Time{}
	for _, e := range d.b.Entries {
		switch {
		case e.Type == EntryBegun:
			begun[e.Step] = e.At
		case e.Result == nil:
		case e.Type == EntryKept:
			d.within(e.Step, "verdict", e.Result.At, time.Time{}, d.b.Header.Created)
			if err := d.observations(e, e.Result.Started, e.Result.Finished); err != nil {
				return err
			}
		case e.Type == EntryVerdict:
			d.within(e.Step, "verdict", e.Result.At, begun[e.Step], e.At)
			if e.Result.Attempt > 0 {
				d.within(e.Step, "start", e.Result.Started, begun[e.Step], e.At)
				d.within(e.Step, "end", e.Result.Finished, e.Result.Started, e.At)
			}
			if err := d.observations(e, begun[e.Step], e.At); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *dates) observations(e Entry, from, to time.Time) error {
	obs, err := d.b.Observations(e.Result.Observations)
	if err != nil {
		return err
	}
	for _, o := range obs {
		d.within(e.Step, "observation "+o.ID, o.At, from, to)
	}
	return nil
}

func (d *dates) within(step, what string, at, from, to time.Time) {
	if at.Before(from.Add(-clockStep)) || at.After(to.Add(clockStep)) {
		d.contradict(step, "its %s is of %s, it was looked at from %s to %s", what, stamp(at), stamp(from), stamp(to))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
