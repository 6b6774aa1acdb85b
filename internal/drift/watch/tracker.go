package watch

import (
	"reflect"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Tracker has the confirmed state of each check of each node. It does no I/O, and is not safe for
// concurrent use. Each check is ok, as accepted, until observations confirm another state.
type Tracker struct {
	rules Rules
	cells map[cellKey]*cell
}

type cellKey struct{ node, check string }

// cell is one check of one node.
type cell struct {
	confirmed State
	// known are the identities of the findings that are in the journal.
	known    []string
	flapping bool
	// doubt is the number of observations in a row that differ from the confirmed state, the first at
	// since, to ok or not.
	doubt   int
	doubtOK bool
	since   time.Time
	// last are the last observations since the check was or became ok or unobserved.
	last []State
}

// NewTracker returns a tracker of nodes that are all ok.
func NewTracker(r Rules) *Tracker { return &Tracker{rules: r, cells: map[cellKey]*cell{}} }

func (t *Tracker) cell(node, name string) *cell {
	key := cellKey{node, name}
	if t.cells[key] == nil {
		t.cells[key] = &cell{confirmed: OK}
	}
	return t.cells[key]
}

// State is the confirmed state of a check.
func (t *Tracker) State(node, name string) State { return t.cell(node, name).confirmed }

// Restore applies a transition of the journal.
func (t *Tracker) Restore(tr Transition) {
	for _, name := range tr.Checks {
		t.cell(tr.Node, name).become(tr)
	}
}

// Observe applies one round, and returns the transitions that it confirms: those of one node between
// the same states are one. Seq, Accept and Evidence are empty.
func (t *Tracker) Observe(at time.Time, round []Reading) []Transition {
	var out []Transition
	for _, r := range round {
		tr, confirmed := t.cell(r.Node, r.Check).next(t.rules, at, r)
		if !confirmed {
			continue
		}
		i := slices.IndexFunc(out, func(o Transition) bool {
			return o.Node == tr.Node && o.From == tr.From && o.To == tr.To && o.Observations == tr.Observations && o.Flapping == tr.Flapping && o.Since.Equal(tr.Since)
		})
		if i < 0 {
			out = append(out, tr)
			continue
		}
		out[i].Checks = append(out[i].Checks, r.Check)
		for _, f := range tr.Findings {
			if !slices.ContainsFunc(out[i].Findings, func(known check.Finding) bool { return reflect.DeepEqual(known, f) }) {
				out[i].Findings = append(out[i].Findings, f)
			}
		}
		out[i].Defects = append(out[i].Defects, tr.Defects...)
	}
	return out
}

// next applies a reading.
func (c *cell) next(rules Rules, at time.Time, r Reading) (Transition, bool) {
	c.last = append(c.last, r.State)
	c.last = c.last[max(0, len(c.last)-rules.FlapWindow):]
	if r.State == c.confirmed && !r.news(c.known) {
		c.doubt = 0
		return Transition{}, false
	}
	if c.doubt == 0 || c.doubtOK != (r.State == OK) {
		c.doubt, c.doubtOK, c.since = 0, r.State == OK, at
	}
	c.doubt++
	flaps := c.flaps(rules, r.State)
	needed := rules.Confirm
	switch {
	case r.Lasting || flaps:
		needed = 1
	case r.State == OK && c.flapping:
		needed = rules.FlapWindow
	}
	if c.doubt < needed {
		return Transition{}, false
	}
	tr := Transition{
		At: at, Since: c.since, Node: r.Node, Checks: []string{r.Check}, From: c.confirmed, To: r.State, Observations: c.doubt,
		Findings: r.Findings, Defects: r.Defects,
	}
	tr.Flapping = r.State != OK && (c.flapping || flaps && !r.Lasting && c.doubt < rules.Confirm)
	c.become(tr)
	return tr, true
}

// flaps reports whether a check that is confirmed as ok was so often not ok, or one that is confirmed
// as unobserved was so often failed in between, that one observation confirms the state.
func (c *cell) flaps(rules Rules, to State) bool {
	times := 0
	for _, s := range c.last {
		if s == Failed || c.confirmed == OK && s != OK {
			times++
		}
	}
	return (c.confirmed == OK || c.confirmed == Unobserved && to == Failed) && times >= rules.FlapFailures
}

// become sets a confirmed state. Findings that are known stay known until the check is ok.
func (c *cell) become(tr Transition) {
	if tr.To != c.confirmed {
		c.known = nil
	}
	c.confirmed, c.flapping, c.doubt = tr.To, tr.Flapping, 0
	if tr.To == OK || tr.To == Unobserved {
		c.last = nil
	}
	for _, f := range tr.Findings {
		c.known = append(c.known, identity(tr.To, f))
	}
	c.known = append(c.known, tr.Defects...)
}
