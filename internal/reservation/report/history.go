package report

import (
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// historyCounts has the counts by reservation.
type historyCounts map[string]*eventCounts

// eventCounts counts events by type, up to the last one.
type eventCounts struct {
	of   map[lease.EventType]int64
	last eventKey
}

// eventKey identifies an event of a reservation, even if a restored store or a new reservation of
// the same name reuses its number.
type eventKey struct {
	at int64
	n  int64
}

func eventKeyOf(t lease.Event) eventKey { return eventKey{at: t.At.UnixMicro(), n: t.N} }

// count updates the counts, usually from the recent events. If these do not reach back to the last
// counted event, it counts everything again, from the archive, which is read after the
// reservations because events leave a status only for the archive.
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
		return err
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

// addEvents does nothing if to is nil.
func addEvents(to map[eventKey]lease.EventType, list []lease.Event) {
	if to == nil {
		return
	}
	for _, t := range list {
		to[eventKeyOf(t)] = t.Type
	}
}

// countNew counts events since the last call; false if recent events do not reach back.
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
