package safety

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// actor does one thing after the other: it holds, cleans, and shows old tokens.
type actor struct {
	*worker
	id  int
	rng *rand.Rand
}

func (a *actor) act(ctx context.Context) {
	for ctx.Err() == nil {
		switch n := a.rng.IntN(100); {
		case n < 30:
			a.hold(ctx)
		case n < 54:
			a.cleanUp(ctx)
		case n < 66:
			a.visit(ctx, a.standing(a.rng))
		case n < 72:
			a.meddle(ctx, a.one())
		case n < 98:
			a.showOld(ctx)
		default:
			a.do(ctx, op{Kind: block, On: []string{a.one()}})
		}
		pause(ctx, a.between(0, 15*time.Millisecond))
	}
}

func (a *actor) between(from, to time.Duration) time.Duration {
	return from + time.Duration(a.rng.Int64N(int64(to-from)))
}

func (a *actor) one() string { names := a.active(); return names[a.rng.IntN(len(names))] }

// hold acquires, renews, and releases, or forgets to.
func (a *actor) hold(ctx context.Context) {
	on := []string{a.one()}
	if other := a.one(); other != on[0] && a.rng.IntN(8) == 0 {
		on = append(on, other)
	}
	period := a.between(400*time.Millisecond, time.Second)
	until, cancel := context.WithTimeout(ctx, a.between(200*time.Millisecond, 2*time.Second))
	got := a.do(until, op{Kind: acquire, On: on, Period: int64(period), Wait: a.rng.IntN(10) < 3})
	cancel()
	for range a.rng.IntN(7) {
		long := period / 10
		if a.rng.IntN(25) == 0 {
			long = 3 * period / 2 // too late, or nearly
		}
		pause(ctx, a.between(time.Millisecond, long))
		for i, name := range got.Got {
			a.do(ctx, op{Kind: []kind{renew, renew, check}[a.rng.IntN(3)], On: []string{name}, Token: got.Tokens[i], Period: int64(period)})
		}
	}
	for i, name := range got.Got {
		if a.rng.IntN(2) == 0 {
			a.open(ctx, name, got.Tokens[i])
			continue
		}
		end := op{Kind: release, On: []string{name}, Token: got.Tokens[i]}
		switch n := a.rng.IntN(100); {
		case n < 10:
			continue // forgotten
		case n < 16:
			end.Kind = evict
		}
		a.oneOrTwice(ctx, end)
	}
}

// oneOrTwice sends a request, sometimes twice at once.
func (a *actor) oneOrTwice(ctx context.Context, o op) {
	if a.rng.IntN(6) > 0 {
		a.do(ctx, o)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { a.do(ctx, o) })
	a.do(ctx, o)
	both.Wait()
}

func (a *actor) cleanUp(ctx context.Context) {
	name := a.one()
	period := a.between(400*time.Millisecond, time.Second)
	got := a.do(ctx, op{Kind: clean, On: []string{name}, Period: int64(period)})
	if got.Outcome != done {
		return
	}
	for range a.rng.IntN(3) {
		pause(ctx, a.between(0, period/8))
		a.do(ctx, op{Kind: renewClean, On: []string{name}, Token: got.Tokens[0], Period: int64(period)})
	}
	end := op{Kind: finish, On: []string{name}, Token: got.Tokens[0]}
	switch n := a.rng.IntN(100); {
	case n < 6:
		return // forgotten
	case n < 14:
		end.Kind = fail
	}
	a.oneOrTwice(ctx, end)
}

// showOld sends what was sent before, or might have been, late.
func (a *actor) showOld(ctx context.Context) {
	old, ok := a.old(a.rng)
	if !ok {
		return
	}
	kinds := []kind{release, release, renew, renew, check, check, check, finish, renewClean, fail, stand, handBack, handBack, impound, extend, notify}
	a.do(ctx, a.timed(op{Kind: kinds[a.rng.IntN(len(kinds))], On: []string{old.on}, Token: old.token}))
}

// do writes an operation down, carries it out, and writes down how it was answered.
func (a *actor) do(ctx context.Context, o op) op {
	o.Worker, o.Client, o.ID = a.ID, a.id, a.next.Add(1)
	o.Holder = fmt.Sprintf("p%d-%d-%s", o.Worker, o.ID, o.Kind)
	o.Call = monotonic()
	a.note(o)
	err := a.ask(ctx, &o)
	o.Outcome, o.State = outcomeOf(err)
	if err != nil {
		o.Err = err.Error()
	}
	o.Ret = monotonic()
	a.note(o)
	for i, name := range o.Got {
		a.keep(name, o.Tokens[i])
	}
	if o.Kind == look && o.Saw.Token != 0 {
		a.keep(o.On[0], o.Saw.Token)
	}
	return o
}

func (a *actor) note(o op) {
	if err := a.journal.write(o); err != nil {
		panic(err) // without a journal there is no test
	}
}

func (a *actor) ask(ctx context.Context, o *op) error {
	name := o.On[0]
	ticket := lease.Ticket{Holder: o.Holder, RenewInterval: lease.Duration(time.Duration(o.Period)), WaitTimeout: lease.Duration(2 * time.Duration(o.Period))}
	switch o.Kind {
	case acquire:
		grants, err := a.broker.Acquire(ctx, broker.Request{Reservations: o.On, Ticket: ticket, Wait: o.Wait})
		for _, g := range grants {
			o.Got, o.Tokens = append(o.Got, g.Reservation), append(o.Tokens, g.Token)
		}
		return err
	case clean:
		l, err := a.broker.Clean(ctx, name, ticket)
		if err == nil {
			o.Got, o.Tokens = o.On, []int64{l.Token}
		}
		return err
	case renew:
		_, err := a.broker.Renew(ctx, name, o.Token)
		return err
	case renewClean:
		_, err := a.broker.RenewClean(ctx, name, o.Token)
		return err
	case check:
		return a.broker.Check(ctx, name, o.Token)
	case release:
		return a.broker.Release(ctx, name, o.Token, "done")
	case evict:
		return a.broker.Evict(ctx, name, o.Token, o.Holder, "it is wanted")
	case block:
		return a.broker.QuarantineFree(ctx, name, o.Holder, "it was found in use")
	case finish:
		return a.broker.FinishClean(ctx, name, o.Token, "clean")
	case fail:
		return a.broker.FailClean(ctx, name, o.Token, "not clean")
	default:
		return a.askByDay(ctx, o, ticket)
	}
}
