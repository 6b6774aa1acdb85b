package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// SuperviseOptions say how a lab's own process runs it.
type SuperviseOptions struct {
	Options
	// Owner, if set, is a pipe from the process that the lab belongs to: when
	// it ends, that process is dead, and the lab stops.
	Owner io.Reader
	// World, if set, answers below /world/ on the control socket, once the
	// lab was made: it is how faults are set from another process.
	World func(l *Lab) http.Handler
	// StopWorld, if set, is called before the components are stopped.
	StopWorld func(ctx context.Context) error
	// StopTimeout bounds an orderly stop of the world (30 s).
	StopTimeout time.Duration
}

// errAskedToStop is the cause of an orderly stop.
var errAskedToStop = errors.New("asked to stop")

// Supervise runs a lab until it is asked to stop, its owner dies or ctx ends,
// and then stops it. Why a lab could not be started is its last event, and the
// error of Supervise.
func Supervise(ctx context.Context, opts SuperviseOptions) (err error) {
	if opts.StopTimeout == 0 {
		opts.StopTimeout = 30 * time.Second
	}
	events := newJournal()
	tell := opts.Events
	s := &supervisor{opts: opts, events: events, changed: make(chan struct{}, 1)}
	opts.Events = func(e Event) {
		events.add(e)
		select {
		case s.changed <- struct{}{}:
		default: // a change is noted already
		}
		if tell != nil {
			tell(e)
		}
	}
	l, err := New(opts.Options)
	if err != nil {
		return err
	}
	s.lab = l
	dir := l.opts.Dir
	lock, err := lockDir(dir)
	if err != nil {
		return fmt.Errorf("run lab %s: %w", l.opts.Name, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := endLeftovers(dir); err != nil {
		return err
	}
	if err := s.save(StateStarting); err != nil {
		return err
	}
	listener, err := listenControl(dir)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.stop, s.ending = func() { cancel(errAskedToStop) }, ctx.Done()
	if opts.Owner != nil {
		go func() {
			_, _ = io.Copy(io.Discard, opts.Owner) // ends when the owner does
			cancel(errors.New("its owner is gone"))
		}()
	}
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()

	saved := make(chan struct{})
	saving, endSaving := context.WithCancel(context.WithoutCancel(ctx))
	go func() { defer close(saved); s.keepState(saving) }()

	runErr := s.run(ctx)

	endSaving()
	<-saved
	shutdown, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	events.close() // ends the event streams, and with them their requests
	if err := server.Shutdown(shutdown); err != nil {
		_ = server.Close() // whoever still reads has had his time
	}
	<-served
	return errors.Join(runErr, os.Remove(filepath.Join(dir, socketName)), removeState(dir))
}

// supervisor is the process that a lab lives in.
type supervisor struct {
	opts   SuperviseOptions
	lab    *Lab
	events *journal
	stop   func()
	// ending is closed when the lab is to end.
	ending <-chan struct{}
	// changed says that the state file is behind.
	changed chan struct{}

	mu    sync.Mutex
	state string
}

// run starts the lab, waits for its end and stops it.
func (s *supervisor) run(ctx context.Context) error {
	startErr := s.lab.Start(ctx)
	if startErr != nil && ctx.Err() != nil {
		startErr = nil // it was stopped while it started, which is no failure
	}
	if startErr == nil && ctx.Err() == nil {
		startErr = s.save(StateReady)
	}
	if startErr == nil {
		<-ctx.Done()
		s.lab.opts.Log.Info("lab stops", "why", context.Cause(ctx).Error())
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.StopTimeout)
	defer cancel()
	errs := []error{startErr, s.save(StateStopping)}
	if s.opts.StopWorld != nil {
		errs = append(errs, s.opts.StopWorld(stop))
	}
	return errors.Join(append(errs, s.lab.Stop(stop))...)
}

// save writes the state file, with another state.
func (s *supervisor) save(state string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	return writeState(s.lab.opts.Dir, s.lab.snapshot(state))
}

// keepState writes the state file after each change of a component.
func (s *supervisor) keepState(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		s.mu.Lock()
		err := writeState(s.lab.opts.Dir, s.lab.snapshot(s.state))
		s.mu.Unlock()
		if err != nil {
			s.lab.opts.Log.Error("state file is behind", "err", err)
		}
	}
}

// current is the lab's state as the supervisor has it.
func (s *supervisor) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}
