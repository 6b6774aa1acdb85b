package safety

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// told is what a reservation's history tells of those who waited.
type told struct {
	name   string
	bad    []finding
	n      int64
	state  lease.State
	token  int64 // the highest
	holder string
	mine   int64  // the token of the lease there is
	taken  bool   // claimed
	opener string // its publisher
	open   bool
	untold bool // checked in: no line has its token
	waits  map[string]bool
	lost   map[string]bool
	claims map[string][]int64 // actor by token, of leases and cleanings
	fates  map[int64]lease.EventType
	blocks map[string]bool // reasons of quarantines without a lease, which name their request
}

// left is the end of a lease that was returned before its grant was answered.
const left lease.EventType = "left untold"

// history reads the complete history of a reservation and compares it with the current record.
func (d *driver) history(name string) (*told, []finding) {
	h := &told{name: name, state: lease.Free, waits: map[string]bool{}, lost: map[string]bool{}, claims: map[string][]int64{}, fates: map[int64]lease.EventType{}, blocks: map[string]bool{}}
	all, err := d.kube.History(d.t.Context(), name, time.Time{})
	if err != nil {
		return h, []finding{{Check: "history", Text: err.Error()}}
	}
	for _, t := range all {
		h.read(t)
	}
	r, err := d.kube.Get(d.t.Context(), name)
	if err != nil {
		return h, []finding{{Check: "history", Text: err.Error()}}
	}
	h.compare(&r.Status.Record)
	return h, h.bad
}

func (h *told) object(check, format string, args ...any) {
	if len(h.bad) < 5 { // the first is what matters
		h.bad = append(h.bad, finding{Check: check, Text: h.name + ": " + fmt.Sprintf(format, args...)})
	}
}

// read takes one line.
func (h *told) read(t lease.Event) {
	if t.N != h.n+1 {
		h.object("history", "number %d comes after %d", t.N, h.n)
	}
	h.n = t.N
	from := h.state
	h.learn(t)
	if !h.step(t) {
		h.object("history", "%+v when it was %s of %q (%d, claimed %t)", t, from, h.holder, h.mine, h.taken)
	}
	if t.State != h.state {
		h.object("history", "%+v when it should be %s, from %s", t, h.state, from)
		h.state = t.State
	}
}

// learn takes the token of a lease that was handed back from the first line about it.
func (h *told) learn(t lease.Event) {
	if h.untold && t.Token > h.token && t.Actor == h.holder && t.Type != lease.CheckedOut {
		h.mine, h.token, h.untold = t.Token, t.Token, false
	}
}

// step makes the step that a line tells; false: it can not be made.
func (h *told) step(t lease.Event) bool {
	own := h.mine == t.Token && t.Token != 0 && h.holder == t.Actor
	offered, claimed := h.state == lease.Leased && !h.taken && own, h.state == lease.Leased && h.taken && own
	cleaned := h.state == lease.Cleaning && own
	switch t.Type {
	case lease.Queued:
		ok := !h.waits[t.Actor]
		h.waits[t.Actor] = true
		return ok
	case lease.Offered:
		ok := h.state == lease.Free && h.waits[t.Actor] && h.grant(t, lease.Leased)
		delete(h.waits, t.Actor)
		return ok
	case lease.Claimed:
		h.taken = true
		h.claims[t.Actor] = append(h.claims[t.Actor], t.Token)
		return offered
	case lease.Extended, lease.Notified:
		return claimed
	case lease.Published:
		ok := claimed && h.opener == ""
		h.opener, h.open = t.Actor, true
		return ok
	case lease.CheckedOut:
		ok := h.state == lease.Leased && h.taken && h.open && t.Token > h.token
		h.holder, h.mine, h.token, h.open, h.untold = t.Actor, t.Token, max(h.token, t.Token), false, false
		h.claims[t.Actor] = append(h.claims[t.Actor], t.Token)
		return ok
	case lease.CheckedIn:
		ok := claimed && h.opener != "" && !h.open
		h.holder, h.mine, h.open, h.untold = h.opener, 0, true, true
		return ok
	case lease.Released:
		to := lease.Dirty
		if noClean(h.name) && h.opener == "" || t.State == lease.Free && t.Reason != "done" { // or was returned before the answer
			to = lease.Free
		}
		if h.fates[t.Token] = t.Type; t.Reason != "done" {
			h.fates[t.Token] = left
		}
		return h.over(claimed, to)
	case lease.Expired, lease.Evicted:
		return h.over(claimed, lease.Dirty)
	case lease.Cancelled, lease.WaitTimedOut:
		h.lost[t.Actor] = t.Type == lease.WaitTimedOut
		if offered {
			return h.over(true, lease.Free)
		}
		ok := h.waits[t.Actor]
		delete(h.waits, t.Actor)
		return ok
	case lease.Yielded:
		h.waits[t.Actor] = true
		return h.over(offered, lease.Free)
	case lease.Returned:
		h.waits[t.Actor], h.fates[t.Token] = true, t.Type
		return h.over(claimed, lease.Free)
	case lease.CleanStarted:
		ok := h.state == lease.Dirty && h.grant(t, lease.Cleaning)
		h.taken = true
		h.claims[t.Actor] = append(h.claims[t.Actor], t.Token)
		return ok
	case lease.Cleaned:
		return h.over(cleaned, lease.Free)
	case lease.CleanFailed:
		return h.over(cleaned, lease.Dirty)
	case lease.Quarantined: // or impounded
		if t.Token == 0 {
			if h.blocks[t.Reason] {
				h.object("history", "one request had two effects: %+v", t)
			}
			h.blocks[t.Reason] = true
		}
		return h.over(claimed || h.state == lease.Free && t.Token == 0, lease.Dirty)
	default: // nothing is restored here
		return false
	}
}

func (h *told) grant(t lease.Event, to lease.State) bool {
	ok := t.Token > h.token
	if !ok {
		h.object("tokens", "%d is granted after %d", t.Token, h.token)
	}
	h.state, h.holder, h.mine, h.token, h.taken = to, t.Actor, t.Token, t.Token, false
	h.opener, h.open, h.untold = "", false, false
	return ok
}

func (h *told) over(ok bool, to lease.State) bool {
	h.state, h.holder, h.mine, h.taken = to, "", 0, false
	h.opener, h.open, h.untold = "", false, false
	return ok
}

// compare compares the history with the record.
func (h *told) compare(r *lease.Record) {
	if l := r.Lease; l != nil && h.untold && r.Token > h.token && l.Token == r.Token {
		h.mine, h.token = l.Token, l.Token
	}
	if r.CurrentState() != h.state || r.Token != h.token || r.Events != h.n {
		h.object("history", "it tells %s, token %d, %d lines; there is %s, token %d, %d lines", h.state, h.token, h.n, r.CurrentState(), r.Token, r.Events)
	}
	if r.Lease != nil && (r.Lease.Holder != h.holder || r.Lease.Token != h.mine || r.Lease.Offered() == h.taken || r.Lease.Publisher != h.opener || r.Lease.Available != h.open) {
		h.object("history", "it tells of %s with %d, claimed %t; there is %s with %d", h.holder, h.mine, h.taken, r.Lease.Holder, r.Lease.Token)
	}
	var waiting []string
	for _, t := range r.Queue {
		waiting = append(waiting, t.Holder)
	}
	for who := range h.waits {
		if !slices.Contains(waiting, who) {
			h.object("waiters", "ticket of %s disappeared without a line of history", who)
		}
	}
	for _, who := range waiting {
		if !h.waits[who] {
			h.object("waiters", "%s waits, and never came", who)
		}
	}
}
