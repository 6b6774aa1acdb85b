package safety

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// defect breaks a broker on purpose.
type defect string

const (
	sound          defect = ""
	noFencing      defect = "no-fencing"        // any token releases and renews
	expiryToFree   defect = "expiry-to-free"    // what expires is free
	tokenReused    defect = "token-reused"      // a grant has the token of the one before
	tokenBack      defect = "token-back"        // a grant has a smaller token than the one before
	halfGroup      defect = "half-group"        // who wants two gets one
	silentDrop     defect = "silent-drop"       // the third to wait replaces the second
	fastClock      defect = "fast-clock"        // leases expire in a tenth of their time
	lastWriterWins defect = "last-writer-wins"  // what others wrote is written over
	lostHistory    defect = "unwritten-history" // an end is not written down
	takeKeepsToken defect = "take-keeps-token"  // who takes over has the token of who opened it
	takeFromTaker  defect = "take-from-taker"   // a checked-out lease is checked out again
	backKeepsToken defect = "back-keeps-token"  // who has handed it back is not refused
	limitless      defect = "limitless"         // extensions pass the limit
	impoundToFree  defect = "impound-to-free"   // a reservation in use becomes free
	dayUnfenced    defect = "day-unfenced"      // any token opens, extends, hands back, impounds
)

// handler is a broker with this defect.
func (d defect) handler(kept broker.Store, seed uint64, prefix string, often time.Duration) handler {
	var n atomic.Int64
	clock := jumping{rng: rand.New(rand.NewPCG(seed, 1<<40))}
	opts := broker.Options{
		Store: d.store(kept), Clock: &clock, Grace: 300 * time.Millisecond, Poll: often,
		ID: func() string { return fmt.Sprintf("%s-%d", prefix, n.Add(1)) },
	}
	if d == fastClock {
		opts.Clock = &hasty{jumping: jumping{rng: clock.rng}}
	}
	b := broker.New(opts)
	switch d {
	case noFencing:
		return &unfenced{Broker: b, kept: kept}
	case halfGroup:
		return &halving{Broker: b}
	case takeKeepsToken, takeFromTaker, backKeepsToken, limitless, impoundToFree, dayUnfenced:
		return &byDayBroken{Broker: b, kept: kept, defect: d}
	default:
		return b
	}
}

func (d defect) store(kept broker.Store) broker.Store {
	spoil := map[defect]func(*store.Reservation){
		expiryToFree: func(r *store.Reservation) {
			if n := len(r.Status.Recent); n > 0 && r.Status.Recent[n-1].Type == lease.Expired && r.Status.State == lease.Dirty {
				r.Status.State, r.Status.DirtyInfo, r.Status.Recent[n-1].State = lease.Free, nil, lease.Free
			}
		},
		tokenReused: func(r *store.Reservation) { regrant(r, 0) },
		tokenBack:   func(r *store.Reservation) { regrant(r, 1) },
		silentDrop: func(r *store.Reservation) {
			if n := len(r.Status.Queue); n > 1 {
				r.Status.Queue = r.Status.Queue[n-1:]
			}
		},
		lostHistory: func(r *store.Reservation) {
			if n := len(r.Status.Recent); n > 0 && r.Status.Recent[n-1].Type == lease.Released {
				r.Status.Recent = r.Status.Recent[:n-1]
			}
		},
	}[d]
	if spoil == nil && d != lastWriterWins {
		return kept
	}
	return &spoiled{Store: kept, spoil: spoil, force: d == lastWriterWins}
}

// regrant gives a grant the token of the last, less by.
func regrant(r *store.Reservation, by int64) {
	if r.Status.Lease == nil {
		return
	}
	last := int64(0)
	for _, t := range r.Status.Recent {
		if t.Token != 0 && t.Token != r.Status.Lease.Token {
			last = t.Token
		}
	}
	if last == 0 || r.Status.Lease.Token < last {
		return
	}
	for i := range r.Status.Recent {
		if r.Status.Recent[i].Token == r.Status.Lease.Token {
			r.Status.Recent[i].Token = last - by
		}
	}
	r.Status.Token, r.Status.Lease.Token = last-by, last-by
}

// spoiled changes what is saved.
type spoiled struct {
	broker.Store
	spoil func(*store.Reservation)
	force bool
}

func (s *spoiled) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	if s.spoil != nil {
		s.spoil(r)
	}
	if !s.force {
		return s.Store.Save(ctx, r)
	}
	for {
		now, err := s.GetUncached(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		r.ResourceVersion = now.ResourceVersion
		out, err := s.Store.Save(ctx, r)
		if err == nil || !strings.Contains(err.Error(), store.ErrConflict.Error()) {
			return out, err
		}
	}
}

// unfenced compares no token.
type unfenced struct {
	*broker.Broker
	kept broker.Store
}

func (u *unfenced) any(ctx context.Context, name string, token int64) int64 {
	r, err := u.kept.GetUncached(ctx, name)
	if err != nil || r.Status.Lease == nil || r.Status.State != lease.Leased {
		return token
	}
	return r.Status.Lease.Token
}

func (u *unfenced) Release(ctx context.Context, name string, token int64, reason string) error {
	return u.Broker.Release(ctx, name, u.any(ctx, name, token), reason)
}

func (u *unfenced) Renew(ctx context.Context, name string, token int64) (lease.Lease, error) {
	return u.Broker.Renew(ctx, name, u.any(ctx, name, token))
}

// halving gives what it can of a group.
type halving struct{ *broker.Broker }

func (h *halving) Acquire(ctx context.Context, req broker.Request) ([]broker.Grant, error) {
	var out []broker.Grant
	var err error
	for _, name := range slices.Sorted(slices.Values(req.Reservations)) {
		one := req
		one.Reservations = []string{name}
		got, e := h.Broker.Acquire(ctx, one)
		out = append(out, got...)
		if e != nil {
			err = e
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, err
}
