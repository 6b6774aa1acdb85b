package evidence

import (
	"fmt"
	"strings"
	"time"
)

// Claim is one statement of run.json and its basis.
type Claim struct {
	// Field is a key of run.json, or "dates".
	Field string `json:"field"`
	Value string `json:"value"`
	Basis Basis  `json:"basis"`
	// By is the evidence.
	By string `json:"by,omitempty"`
}

// Basis is the basis of a Claim.
type Basis string

// The bases.
const (
	// Observed: observations or other files of the run confirm it.
	Observed Basis = "observed"
	// Claimed: nothing in the run confirms it; it is a statement of the creator of the run.
	Claimed Basis = "claimed"
)

// Contradiction is a statement of the run that its observations contradict.
type Contradiction struct {
	// Field is as in Claim.
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (c Contradiction) String() string { return c.Field + ": " + c.Message }

// clockStep is the permitted backward step of a clock during a run. NTP steps a clock that is
// off by more than 128 ms; an hour indicates forgery.
const clockStep = time.Minute

// Dates checks the dates of the run for consistency: its ID, journal, results and observations.
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
		d.contradict("created", "run.json has %s, the run ID is %s", stamp(h.Created), h.Run)
	}
	if len(d.b.Entries) == 0 {
		return
	}
	if first := d.b.Entries[0]; first.Type != EntryCreated || !first.At.Equal(h.Created) {
		d.contradict("created", "run.json has %s, the journal starts with %s at %s", stamp(h.Created), first.Type, stamp(first.At))
	}
}

// journal checks that entries are in the order of time.
func (d *dates) journal() {
	for i := 1; i < len(d.b.Entries); i++ {
		before, e := d.b.Entries[i-1], d.b.Entries[i]
		if e.At.Before(before.At.Add(-clockStep)) {
			d.contradict("journal", "entry %d is dated %s, the previous entry %s", e.Seq, stamp(e.At), stamp(before.At))
		}
	}
}

// results checks that results and their observations are within the time of their attempt. A
// kept result is older than the run.
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
		d.contradict(step, "%s is dated %s, the attempt was from %s to %s", what, stamp(at), stamp(from), stamp(to))
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
