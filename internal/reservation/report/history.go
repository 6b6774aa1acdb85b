package report

import (
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// history is what was counted of each reservation's.
type historyCounts map[string]*eventCounts

// counted is how often what happened, up to the last transition.
type eventCounts struct {
	of   map[lease.EventType]int64
	last eventKey
}

// key tells transitions of a reservation apart, also where a restored store, or another
// reservation of the same name, has the same number again.
type eventKey struct {
	at int64
	n  int64
}

func eventKeyOf(t lease.Event) eventKey { return eventKey{at: t.At.UnixMicro(), n: t.N} }

// count brings the counts up to what the reservations say. Mostly that is in their newest
// history; where that does not go back to what was counted last, everything is counted
// anew, from the pieces. They are read after the reservations were: what a
// status has no room for later is in a piece by then.
func (h historyCounts) count(ctx context.Context, from CollectorStore, list []*store.Reservation) error {
	anew := map[string]*store.Reservation{}
	known := map[string]bool{}
	for _, r := range list {
		known[r.Name] = true
		if !h.countNew(r) {
			anew[r.Name] = r
		}
	}
	for name := range h {
		if !known[name] {
			delete(h, name)
		}
	}
	if len(anew) == 0 {
		return nil
	}
	all := map[string]map[eventKey]lease.EventType{}
	for name := range anew {
		all[name] = map[eventKey]lease.EventType{}
	}
	err := from.EachHistory(ctx, func(name string, piece []lease.Event) {
		addEvents(all[name], piece)
	})
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	for name, r := range anew {
		addEvents(all[name], r.Status.Recent)
		c := &eventCounts{of: map[lease.EventType]int64{}}
		for _, what := range all[name] {
			c.of[what]++
		}
		if n := len(r.Status.Recent); n > 0 {
			c.last = eventKeyOf(r.Status.Recent[n-1])
		}
		h[name] = c
	}
	return nil
}

// note adds transitions to those of a reservation that is counted; of others it has no map.
func addEvents(to map[eventKey]lease.EventType, list []lease.Event) {
	if to == nil {
		return
	}
	for _, t := range list {
		to[eventKeyOf(t)] = t.Type
	}
}

// goOn counts what is new since the last time, and says whether it could.
func (h historyCounts) countNew(r *store.Reservation) bool {
	c := h[r.Name]
	if c == nil {
		return false
	}
	recent := r.Status.Recent
	i := -1
	if c.last != (eventKey{}) {
		i = slices.IndexFunc(recent, func(t lease.Event) bool { return eventKeyOf(t) == c.last })
		if i < 0 {
			return false
		}
	} else if len(recent) > 0 && recent[0].N > 1 {
		return false
	}
	for _, t := range recent[i+1:] {
		c.of[t.Type]++
		c.last = eventKeyOf(t)
	}
	return true
}
