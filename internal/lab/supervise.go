package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// SuperviseOptions configure Supervise.
type SuperviseOptions struct {
	Options
	// Owner, if set, is a pipe from the process that owns the lab; its EOF stops the lab.
	Owner io.Reader
	// World, if set, serves requests below /world/ on the control socket, for example to set
	// faults.
	World func(l *Lab) http.Handler
	// StopWorld, if set, is called before the components stop.
	StopWorld func(ctx context.Context) error
	// StopTimeout bounds an orderly stop of the world. Default 30 s.
	StopTimeout time.Duration
}

var errAskedToStop = errors.New("asked to stop")

// Supervise runs a lab until it is asked to stop, its owner ends or ctx ends, and then stops it. A
// failed start is the lab's last event and the returned error.
func Supervise(ctx context.Context, opts SuperviseOptions) (err error) {
	opts.StopTimeout = cmp.Or(opts.StopTimeout, 30*time.Second)
	events := newJournal()
	tell := opts.Events
	s := &supervisor{opts: opts, events: events, changed: make(chan struct{}, 1)}
	opts.Events = func(e Event) {
		events.add(e)
		select {
		case s.changed <- struct{}{}:
		default: // a change is already pending
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
	died, err := endLeftovers(dir)
	if err != nil {
		return err
	}
	if died {
		l.opts.Log.Warn("the supervisor of an earlier lab died: its processes are stopped and its files are deleted")
	}
	// The state file says that the lab answers: the socket comes first.
	listener, err := listenControl(dir)
	if err != nil {
		return err
	}
	if err := s.save(StateStarting); err != nil {
		return errors.Join(err, listener.Close())
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.stop, s.ending = func() { cancel(errAskedToStop) }, ctx.Done()
	if opts.Owner != nil {
		go func() {
			_, _ = io.Copy(io.Discard, opts.Owner) // until the owner ends
			cancel(errors.New("the owner ended"))
		}()
	}
	server := controlServer(s.routes(), l.id)
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()

	saved := make(chan struct{})
	saving, endSaving := context.WithCancel(context.WithoutCancel(ctx))
	go func() { defer close(saved); s.keepState(saving) }()
	go process.RotateLog(saving.Done(), LogPathIn(dir, supervisorName))

	runErr := s.run(ctx)

	endSaving()
	<-saved
	shutdown, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	events.close() // ends the event streams and their requests
	if err := server.Shutdown(shutdown); err != nil {
		_ = server.Close() // grace period over: close remaining connections
	}
	<-served
	return errors.Join(runErr, os.Remove(filepath.Join(dir, socketName)), removeState(dir))
}

type supervisor struct {
	opts   SuperviseOptions
	lab    *Lab
	events *journal
	stop   func()
	// ending is closed when the lab stops.
	ending <-chan struct{}
	// changed signals that the state file is out of date.
	changed chan struct{}

	mu    sync.Mutex
	state string
}

func (s *supervisor) run(ctx context.Context) error {
	startErr := s.lab.Start(ctx)
	if startErr != nil && ctx.Err() != nil {
		startErr = nil // a stop during the start is not a failure
	}
	if startErr == nil && ctx.Err() == nil {
		startErr = s.save(StateReady)
	}
	if startErr == nil {
		<-ctx.Done()
		s.lab.opts.Log.Info("lab stopping", "reason", context.Cause(ctx).Error())
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.StopTimeout)
	defer cancel()
	errs := []error{startErr, s.save(StateStopping)}
	if s.opts.StopWorld != nil {
		errs = append(errs, s.opts.StopWorld(stop))
	}
	return errors.Join(append(errs, s.lab.Stop(stop))...)
}

// save writes the state file with a new state.
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
			s.lab.opts.Log.Error("cannot write state file", "err", err)
		}
	}
}

func (s *supervisor) current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}
