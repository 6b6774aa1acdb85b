package safety

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// timed states what an operation asks for that has to do with the end of a lease.
func (a *actor) timed(o op) op {
	switch o.Kind {
	case stand:
		now := time.Now()
		o.Ends = now.Add(a.between(300*time.Millisecond, 3*time.Second)).UnixMicro()
		o.Last = o.Ends + a.between(0, 2*time.Second).Microseconds()
	case extend:
		o.By = int64(a.between(time.Millisecond, 1500*time.Millisecond))
	default:
	}
	return o
}

// open publishes a lease and ends it later, by any holder; or it never does.
func (a *actor) open(ctx context.Context, name string, token int64) {
	if a.do(ctx, a.timed(op{Kind: stand, On: []string{name}, Token: token})).Outcome != done || a.rng.IntN(10) == 0 {
		return
	}
	a.recordPublished(name)
	for range 1 + a.rng.IntN(4) {
		pause(ctx, a.between(time.Millisecond, 100*time.Millisecond))
		a.visit(ctx, name) // among others
	}
	seen := a.do(ctx, op{Kind: look, On: []string{name}})
	if seen.Saw.Token == 0 {
		return
	}
	if a.rng.IntN(2) == 0 {
		a.do(ctx, op{Kind: notify, On: []string{name}, Token: seen.Saw.Token})
	}
	end := []kind{evict, evict, release, impound}[a.rng.IntN(4)]
	a.oneOrTwice(ctx, op{Kind: end, On: []string{name}, Token: seen.Saw.Token})
}

// visit takes over what is open, and hands it back, or ends it, or forgets it.
func (a *actor) visit(ctx context.Context, name string) {
	got := a.do(ctx, op{Kind: take, On: []string{name}})
	if got.Outcome != done {
		return
	}
	for range a.rng.IntN(3) {
		pause(ctx, a.between(0, 40*time.Millisecond))
		a.do(ctx, a.timed(op{Kind: []kind{renew, check, extend, extend, notify}[a.rng.IntN(5)], On: []string{name}, Token: got.Tokens[0]}))
	}
	switch n := a.rng.IntN(10); {
	case n < 1:
		return // forgotten
	case n < 7:
		a.oneOrTwice(ctx, op{Kind: handBack, On: []string{name}, Token: got.Tokens[0]})
		for range a.rng.IntN(3) { // a checked-in lease accepts no further step
			a.do(ctx, op{Kind: []kind{check, renew}[a.rng.IntN(2)], On: []string{name}, Token: got.Tokens[0]})
		}
	default:
		a.oneOrTwice(ctx, op{Kind: release, On: []string{name}, Token: got.Tokens[0]})
	}
}

// meddle applies steps with only the token of a lease.
func (a *actor) meddle(ctx context.Context, name string) {
	seen := a.do(ctx, op{Kind: look, On: []string{name}})
	if seen.Saw.Token == 0 {
		return
	}
	kinds := []kind{check, check, notify, notify, extend, evict, impound}
	a.do(ctx, a.timed(op{Kind: kinds[a.rng.IntN(len(kinds))], On: []string{name}, Token: seen.Saw.Token}))
}

// askByDay makes the requests of a day.
func (a *actor) askByDay(ctx context.Context, o *op, ticket lease.Ticket) error {
	name := o.On[0]
	answered := func(l lease.Lease, err error) error {
		if err == nil {
			o.Saw = termsOf(l)
		}
		return err
	}
	switch o.Kind {
	case stand:
		return answered(a.broker.Publish(ctx, name, o.Token, time.UnixMicro(o.Ends), time.UnixMicro(o.Last), "published"))
	case take:
		l, err := a.broker.Checkout(ctx, name, ticket)
		if err == nil {
			o.Got, o.Tokens = o.On, []int64{l.Token}
		}
		return answered(l, err)
	case handBack:
		return a.broker.Checkin(ctx, name, o.Token, "done")
	case impound:
		return a.broker.Quarantine(ctx, name, o.Token, "something else was found")
	case extend:
		return answered(a.broker.Extend(ctx, name, o.Token, time.Duration(o.By), "not done"))
	case notify:
		return a.broker.Notify(ctx, name, o.Token, o.Holder, "it is wanted", time.Now())
	case look:
		r, err := a.kept.GetUncached(ctx, name)
		if err == nil && r.Status.CurrentState() == lease.Leased && !r.Status.Lease.Offered() {
			o.Saw = termsOf(*r.Status.Lease)
		}
		return err
	default:
		panic("no such operation: " + o.Kind)
	}
}
