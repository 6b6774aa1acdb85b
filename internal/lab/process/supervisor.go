package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Options configure a Supervisor. The zero value works.
type Options struct {
	// Clock is time; nil means the real one.
	Clock clock.Clock
	// Notify is called for every change of a program's state, from the
	// program's own goroutine: it must not block and must not call back.
	Notify func(Event)
	// FirstBackoff and MaxBackoff bound the wait before a restart
	// (250 ms, doubling to 10 s).
	FirstBackoff, MaxBackoff time.Duration
	// StartAttempts is how many times a program may die before its first
	// readiness until Start gives up (3).
	StartAttempts int
	// ProbeEvery is the pause between two probes (50 ms), ProbeTimeout the
	// deadline of one (5 s).
	ProbeEvery, ProbeTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Notify == nil {
		o.Notify = func(Event) {}
	}
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&o.FirstBackoff, 250*time.Millisecond)
	set(&o.MaxBackoff, 10*time.Second)
	set(&o.ProbeEvery, 50*time.Millisecond)
	set(&o.ProbeTimeout, 5*time.Second)
	if o.StartAttempts == 0 {
		o.StartAttempts = 3
	}
	return o
}

// ErrClosed says that the supervisor takes no more programs.
var ErrClosed = errors.New("supervisor is closed")

// Supervisor keeps a set of programs running.
type Supervisor struct {
	opts Options
	sp   *spawner

	mu     sync.Mutex
	closed bool
	// units are in the order of their start.
	units []*unit
	// holdDown are the programs that are not started again at once.
	holds map[string]holdDown
}

// New makes a Supervisor; Close ends it.
func New(opts Options) *Supervisor {
	return &Supervisor{opts: opts.withDefaults(), sp: newSpawner(), holds: map[string]holdDown{}}
}

// Start runs the program and returns when its probe answers. When it dies
// before that more often than allowed, or ctx ends first, Start stops it and
// the error has the last lines of its log.
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
			return nil, fmt.Errorf("start %s: it is running already", spec.Name)
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

// Replace ends the program of that name within grace, if it runs, and starts
// it as spec says. It keeps its place in the order of starts.
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
		return err // it stays supervised: the next try may bring it up
	}
	return nil
}

// holdDown is for how long a program stays ended when it dies.
type holdDown struct {
	wait time.Duration
	// over is closed when it does so no more.
	over chan struct{}
}

// HoldDown leaves the program of that name ended for so long when it dies; 0 has it
// started again as ever, at once where it has died meanwhile. It may be called before
// the program's start.
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

// heldDown is what HoldDown was told of the program of that name.
func (s *Supervisor) heldDown(name string) (holdDown, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.holds[name]
	return f, ok
}

// Halt ends the program of that name within grace and leaves it ended: it stays
// listed, and Replace starts it again. Halting what does not run is harmless.
func (s *Supervisor) Halt(name string, grace time.Duration) {
	if u := s.find(name); u != nil {
		u.stopWithin(grace)
	}
}

// Remove ends the program of that name and forgets it: it can be started anew.
func (s *Supervisor) Remove(name string) {
	if u := s.find(name); u != nil {
		u.stop()
		s.remove(u)
	}
}

// Status tells about every program, in the order of their start.
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

// Close ends every program, last started first, each with its grace period,
// and then the supervisor. It returns when all are reaped; calling it again is harmless.
func (s *Supervisor) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	units := append([]*unit(nil), s.units...)
	s.mu.Unlock()
	for _, u := range slices.Backward(units) {
		u.stop()
	}
	s.sp.close()
}
