package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// term of the leases of people.
const term = time.Hour

// Causes of the end of a wait.
var (
	errGaveUp = errors.New("waiting too long")
	errOver   = errors.New("the simulation ended before the lease was granted")
)

// queue makes a person wait for reservations, hold them for a time and release them; never: they
// do not release them.
func queue(at time.Time, who string, has time.Duration, reservations ...string) *event {
	return &event{at: at, what: who + " queues for " + strings.Join(reservations, " and "), do: func(ctx context.Context, p *runner) error {
		ctx, giveUp := context.WithCancelCause(ctx)
		p.quitter(who, giveUp)
		end := p.people.Begin()
		p.crowd.Go(func() {
			defer end()
			if err := p.wait(ctx, who, has, reservations); err != nil && !errors.Is(err, errGaveUp) {
				p.addFinding(newFinding(who, fmt.Sprintf("%v: %v", reservations, err)))
			}
		})
		return nil
	}}
}

func (p *runner) wait(ctx context.Context, who string, has time.Duration, reservations []string) error {
	done := p.people.Waiting(time.Time{})
	grants, err := p.broker.Acquire(ctx, broker.Request{
		Reservations: reservations, Wait: true,
		Ticket: lease.Ticket{Holder: who, Purpose: "benchmark", Term: lease.Duration(term), MaxTerm: lease.Duration(2 * term)},
	})
	done()
	if err != nil {
		return err
	}
	p.logf("%s holds %s", who, broker.JoinNames(grants))
	if has == never {
		return nil
	}
	if err := p.people.Wait(ctx, p.clock.Now().Add(has)); err != nil {
		return err
	}
	var errs []error
	for _, g := range grants {
		errs = append(errs, p.broker.Release(ctx, g.Reservation, g.Token, "done"))
	}
	p.logf("%s releases %s", who, broker.JoinNames(grants))
	return errors.Join(errs...)
}

func giveUp(at time.Time, who string) *event {
	return &event{at: at, what: who + " gives up", do: func(_ context.Context, p *runner) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.quitters[who](errGaveUp)
		return nil
	}}
}

func (p *runner) quitter(who string, quit context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quitters[who] = quit
}

// cancelPeople ends all waits and returns when they have ended.
func (p *runner) cancelPeople() {
	p.mu.Lock()
	for _, quit := range p.quitters {
		quit(errOver)
	}
	p.mu.Unlock()
	p.crowd.Wait()
}
