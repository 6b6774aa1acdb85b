package reservation

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// unread is a store that could not be reached.
type unread struct{ err error }

func (u unread) List(context.Context) ([]*store.Reservation, error) { return nil, u.err }

func (u unread) EachHistory(context.Context, func(string, []lease.Event)) error { return u.err }

func (u unread) ListHandOvers(context.Context, time.Time) ([]*store.HandOver, error) {
	return nil, u.err
}
