package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// runner is a running simulation.
type runner struct {
	opts   Options
	dir    string
	clock  *clock.File
	store  *store.Kube
	broker *broker.Broker
	// people tracks the work of the simulated people.
	people      *clock.IdleTracker
	crowd       sync.WaitGroup
	controllers []*process

	mu       sync.Mutex
	memos    map[string]int64
	quitters map[string]context.CancelCauseFunc
	wrong    []Finding
}

// logf writes a line with the time of the simulation.
func (p *runner) logf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.opts.Log, "%s  %s\n", p.clock.Now().UTC().Format("Mon 15:04"), fmt.Sprintf(format, args...))
}

func (p *runner) addFinding(f Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = append(p.wrong, f)
}

// pollInterval of the state, and the number of consecutive polls in which it must be idle and
// unchanged before the clock jumps.
const (
	pollInterval  = 50 * time.Millisecond
	settledChecks = 3
)

// stallTimeout bounds the time without a change while work is in progress.
const stallTimeout = 10 * time.Minute

var errStalled = errors.New("no progress")

// runUntil runs until a time of day.
func (p *runner) runUntil(ctx context.Context, end time.Time, events []*event) error {
	slices.SortStableFunc(events, func(a, b *event) int { return a.at.Compare(b.at) })
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	var before snapshot
	calm, changed := 0, p.clock.Elapsed()
	for p.clock.Now().Before(end) {
		if err := p.runDue(ctx, events); err != nil {
			return err
		}
		now, err := p.snapshot(ctx)
		switch {
		case err != nil:
			return err
		case now.rest && now.same(before):
			calm++
		default:
			calm = 0
		}
		if !now.same(before) {
			before, changed = now, p.clock.Elapsed()
		} else if p.clock.Elapsed()-changed > stallTimeout {
			return fmt.Errorf("%w: %s", errStalled, now.why)
		}
		if calm >= settledChecks {
			next := earliest(end, now.next, nextOf(events, p.clock.Now()))
			if err := p.clock.Jump(next); err != nil {
				return err
			}
			calm = 0
			continue
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for _, e := range events {
		if !e.done {
			p.addFinding(Finding{Subject: e.what, Reason: "due at " + e.at.Format(time.RFC3339) + ", but its condition was never met"})
		}
	}
	return nil
}

// runDue runs due events in order.
func (p *runner) runDue(ctx context.Context, events []*event) error {
	for _, e := range events {
		if e.done || p.clock.Now().Before(e.at) {
			continue
		}
		if e.when != nil {
			ready, err := e.when(ctx, p)
			if err != nil {
				return fmt.Errorf("%s: %w", e.what, err)
			}
			if !ready {
				continue
			}
		}
		e.done = true
		p.logf("%s", e.what)
		if err := e.do(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", e.what, err)
		}
	}
	return nil
}

// nextOf returns the due time of the next event.
func nextOf(events []*event, now time.Time) time.Time {
	next := time.Time{}
	for _, e := range events {
		if !e.done && e.at.After(now) {
			next = earliest(next, e.at)
		}
	}
	return next
}

// earliest ignores zero times.
func earliest(times ...time.Time) time.Time {
	times = slices.DeleteFunc(times, time.Time.IsZero)
	if len(times) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(times, time.Time.Compare)
}

type snapshot struct {
	// rest: nothing is in progress or due before next.
	rest bool
	next time.Time
	// changes is a number that changes whenever work starts or ends.
	controller, people, transitions int64
	// reason why it is not idle.
	why string
}

func (s snapshot) same(o snapshot) bool {
	return s.controller == o.controller && s.people == o.people && s.transitions == o.transitions && s.rest == o.rest && s.why == o.why
}

func (p *runner) snapshot(ctx context.Context) (snapshot, error) {
	idle, next, changes := p.people.State()
	s := snapshot{rest: idle, next: next, people: changes}
	if !idle {
		s.why = "people are busy"
	}
	status, err := p.leading(ctx)
	if err != nil {
		return s, err
	}
	if status == nil || !status.Idle {
		s.rest, s.why = false, "the controller is busy"
	}
	if status == nil {
		s.why = "no controller leads"
	} else {
		s.controller, s.next = status.Changes, earliest(s.next, status.Next)
	}
	all, err := p.store.List(ctx)
	if err != nil {
		if broker.IsTransient(err) {
			return snapshot{why: "the store does not answer"}, nil
		}
		return s, err
	}
	for _, r := range all {
		s.transitions += r.Status.Events
		if reason := unsettled(&r.Status, p.clock.Now()); reason != "" {
			s.rest, s.why = false, cmp.Or(s.why, r.Name+": "+reason)
		}
		if l := r.Status.Lease; l != nil && l.TermEndsAt != nil {
			s.next = earliest(s.next, l.TermEndsAt.Time)
		}
	}
	return s, nil
}

// unsettled says which change of a reservation is imminent; empty if none.
func unsettled(s *store.Status, now time.Time) string {
	l := s.Lease
	switch {
	case s.CurrentState() == lease.Cleaning:
		return "it is being cleaned"
	case s.CurrentState() == lease.Dirty && !s.DirtyInfo.ManualOnly && s.DirtyInfo.Attempts == 0:
		return "it is about to be cleaned"
	case s.CurrentState() == lease.Free && len(s.Queue) > 0:
		return "it is about to be offered"
	case l.Offered():
		return "it is offered"
	case l != nil && l.RenewInterval.Duration > 0:
		return l.Holder + " must renew it"
	case l != nil && l.TermEndsAt != nil && !l.TermEndsAt.After(now):
		return "its lease has ended"
	default:
		return ""
	}
}

// remember and recall store numbers between events.
func (p *runner) remember(key string, n int64) { p.mu.Lock(); defer p.mu.Unlock(); p.memos[key] = n }

func (p *runner) recall(key string) int64 { p.mu.Lock(); defer p.mu.Unlock(); return p.memos[key] }
