package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Options configure a Supervisor. All fields are optional.
type Options struct {
	// Clock defaults to the real clock.
	Clock clock.Clock
	// Notify is called for every change of state, from the program's goroutine. It must neither
	// block nor call the Supervisor.
	Notify func(Event)
	// FirstBackoff and MaxBackoff bound the restart backoff. Default 250 ms, doubling to 10 s.
	FirstBackoff, MaxBackoff time.Duration
	// StartAttempts is the number of exits before the first readiness after which Start fails.
	// Default 3.
	StartAttempts int
	// ProbeEvery is the interval of probes (default 50 ms), ProbeTimeout the deadline of one
	// (default 5 s).
	ProbeEvery, ProbeTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Clock = cmp.Or[clock.Clock](o.Clock, clock.RealClock{})
	if o.Notify == nil {
		o.Notify = func(Event) {}
	}
	o.FirstBackoff = cmp.Or(o.FirstBackoff, 250*time.Millisecond)
	o.MaxBackoff = cmp.Or(o.MaxBackoff, 10*time.Second)
	o.ProbeEvery = cmp.Or(o.ProbeEvery, 50*time.Millisecond)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, 5*time.Second)
	o.StartAttempts = cmp.Or(o.StartAttempts, 3)
	return o
}

// ErrClosed is returned by Start after Close.
var ErrClosed = errors.New("supervisor is closed")

// Supervisor keeps a set of programs running.
type Supervisor struct {
	opts Options
	sp   *spawner

	mu     sync.Mutex
	closed bool
	// units are in start order.
	units []*unit
	// holds are delays of restarts by program.
	holds map[string]holdDown
}

// New returns a Supervisor; call Close to stop it.
func New(opts Options) *Supervisor {
	return &Supervisor{opts: opts.withDefaults(), sp: newSpawner(), holds: map[string]holdDown{}}
}

// Start runs the program and returns when its probe succeeds. If the program dies too often before
// that, or ctx ends, Start stops it and the error has its last log lines.
func (s *Supervisor) Start(ctx context.Context, spec Spec) error {
	u, err := s.add(spec)
	if err != nil {
		return err
	}
	if err := u.awaitReady(ctx); err != nil {
		u.stop()
		s.remove(u)
		return err
	}
	return nil
}

func (s *Supervisor) add(spec Spec) (*unit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	for _, u := range s.units {
		if u.spec.Name == spec.Name {
			return nil, fmt.Errorf("start %s: already running", spec.Name)
		}
	}
	u := newUnit(s, spec)
	s.units = append(s.units, u)
	go u.run()
	return u, nil
}

func (s *Supervisor) remove(u *unit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.units {
		if s.units[i] == u {
			s.units = append(s.units[:i], s.units[i+1:]...)
			return
		}
	}
}

func (s *Supervisor) find(name string) *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.units {
		if u.spec.Name == name {
			return u
		}
	}
	return nil
}

// Replace stops the named program within grace, if it runs, and starts it with spec. It keeps its
// place in the start order.
func (s *Supervisor) Replace(ctx context.Context, spec Spec, grace time.Duration) error {
	old := s.find(spec.Name)
	if old == nil {
		return s.Start(ctx, spec)
	}
	old.stopWithin(grace)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	u := newUnit(s, spec)
	u.restarts = old.status().Restarts
	for i := range s.units {
		if s.units[i] == old {
			s.units[i] = u
		}
	}
	s.mu.Unlock()
	go u.run()
	if err := u.awaitReady(ctx); err != nil {
		return err // it stays supervised and may become ready later
	}
	return nil
}

// holdDown delays a program's restart.
type holdDown struct {
	wait time.Duration
	// over is closed when the delay is cancelled.
	over chan struct{}
}

// HoldDown delays each restart of the named program by wait; 0 cancels a current delay and
// restarts at once. It may be called before the program's start.
func (s *Supervisor) HoldDown(name string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, have := s.holds[name]; have {
		close(f.over)
		delete(s.holds, name)
	}
	if wait > 0 {
		s.holds[name] = holdDown{wait: wait, over: make(chan struct{})}
	}
}

func (s *Supervisor) heldDown(name string) (holdDown, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.holds[name]
	return f, ok
}

// Halt stops the named program within grace and keeps it listed; Replace starts it again. It does
// nothing if the program is not running.
func (s *Supervisor) Halt(name string, grace time.Duration) {
	if u := s.find(name); u != nil {
		u.stopWithin(grace)
	}
}

// Remove stops the named program and removes it.
func (s *Supervisor) Remove(name string) {
	if u := s.find(name); u != nil {
		u.stop()
		s.remove(u)
	}
}

// Status returns every program's status in start order.
func (s *Supervisor) Status() []Status {
	s.mu.Lock()
	units := append([]*unit(nil), s.units...)
	s.mu.Unlock()
	all := make([]Status, 0, len(units))
	for _, u := range units {
		all = append(all, u.status())
	}
	return all
}

// Close stops every program with its grace period, those that need a program before it and the
// others in parallel, and returns when all are reaped. A second call does nothing.
func (s *Supervisor) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	units := append([]*unit(nil), s.units...)
	s.mu.Unlock()
	var stopping sync.WaitGroup
	for _, u := range units {
		stopping.Go(func() {
			for _, other := range units {
				if slices.Contains(other.spec.Needs, u.spec.Name) {
					<-other.stopped
				}
			}
			u.stop()
		})
	}
	stopping.Wait()
	s.sp.close()
}
