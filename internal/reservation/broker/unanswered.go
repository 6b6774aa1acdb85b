package broker

import (
	"context"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// unanswered is a write whose answer was lost. Its events show whether it has succeeded.
type unanswered struct {
	last    lease.Event // of those that it adds
	refused error       // the answer of its step
}

// newUnanswered returns nil for a write without events, such as a heartbeat.
func newUnanswered(before, after *lease.Record, refused error) *unanswered {
	if after.Events == before.Events || len(after.Recent) == 0 {
		return nil
	}
	return &unanswered{last: after.Recent[len(after.Recent)-1], refused: refused}
}

// written reports whether the write had succeeded when r was read. A reservation has few events in its status; the
// older ones are read from its history.
func (u *unanswered) written(ctx context.Context, s Store, r *store.Reservation) (bool, error) {
	if u == nil || r.Status.Events < u.last.N {
		return false, nil
	}
	events := []lease.Event(r.Status.Recent)
	if len(events) == 0 || events[0].N > u.last.N {
		var err error
		if events, err = s.History(ctx, r.Name, time.Time{}); err != nil {
			return false, err
		}
	}
	return slices.ContainsFunc(events, u.isLast), nil
}

// findWritten returns a write that had succeeded when r was read, or nil.
func findWritten(ctx context.Context, s Store, r *store.Reservation, lost []*unanswered) (*unanswered, error) {
	for _, u := range lost {
		if written, err := u.written(ctx, s, r); written || err != nil {
			return u, err
		}
	}
	return nil, nil
}

func (u *unanswered) isLast(e lease.Event) bool {
	l := u.last
	return e.N == l.N && e.Type == l.Type && e.Token == l.Token && e.Actor == l.Actor && e.Reason == l.Reason && e.At.Equal(&l.At)
}
