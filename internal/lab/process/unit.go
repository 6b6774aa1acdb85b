package process

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unit is one supervised program and its successive processes.
type unit struct {
	sup  *Supervisor
	spec Spec

	stopOnce sync.Once
	grace    time.Duration
	stopping chan struct{} // closed: stop requested
	stopped  chan struct{} // closed: the program has ended

	mu        sync.Mutex
	state     State
	inst      *instance
	restarts  int
	lastExit  *Exit
	probeErr  error
	everReady chan struct{} // closed at the first readiness
	early     chan Exit     // receives exits before the first readiness
}

func newUnit(s *Supervisor, spec Spec) *unit {
	return &unit{
		sup: s, spec: spec, state: Starting,
		stopping: make(chan struct{}), stopped: make(chan struct{}),
		everReady: make(chan struct{}), early: make(chan Exit, s.opts.StartAttempts),
	}
}

// run restarts the program until stop is called.
func (u *unit) run() {
	defer close(u.stopped)
	backoff := u.sup.opts.FirstBackoff
	for {
		exit, wasReady, asked := u.once()
		if asked {
			u.set(Stopped, Event{Exit: exit})
			return
		}
		if wasReady {
			backoff = u.sup.opts.FirstBackoff
		}
		u.set(Waiting, Event{Exit: exit, Next: metav1.Duration{Duration: backoff}})
		if !u.isEverReady() {
			select {
			case u.early <- *exit:
			default:
			}
		}
		if !u.await(backoff) {
			u.set(Stopped, Event{})
			return
		}
		backoff = min(2*backoff, u.sup.opts.MaxBackoff)
		u.mu.Lock()
		u.restarts++
		u.mu.Unlock()
	}
}

// await waits for the next start; false: the program is stopping.
func (u *unit) await(backoff time.Duration) bool {
	if f, ok := u.sup.heldDown(u.spec.Name); ok {
		select {
		case <-u.stopping:
			return false
		case <-f.over:
		case <-u.sup.opts.Clock.After(f.wait):
		}
	}
	select {
	case <-u.stopping:
		return false
	case <-u.sup.opts.Clock.After(backoff):
		return true
	}
}

// once runs one process until it exits.
func (u *unit) once() (exit *Exit, wasReady, asked bool) {
	clk := u.sup.opts.Clock
	inst, err := launch(u.sup.sp, u.spec, clk.Now)
	if err != nil {
		e := Exit{At: clk.Now(), Status: err.Error()}
		u.record(&e)
		return &e, false, u.isStopping()
	}
	u.mu.Lock()
	u.inst = inst
	u.mu.Unlock()
	u.set(Starting, Event{PID: inst.id.PID})

	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // lives as long as the process
	defer cancel()
	ready := make(chan struct{})
	probing := make(chan struct{})
	go func() {
		defer close(probing)
		if u.probe(ctx) {
			close(ready)
		}
	}()
	defer func() { cancel(); <-probing }()

	for {
		select {
		case <-ready:
			ready = nil
			wasReady = true
			u.set(Ready, Event{PID: inst.id.PID, Took: metav1.Duration{Duration: clk.Since(inst.started)}})
			u.markReady()
		case <-inst.ended:
			u.record(&inst.exit)
			return &inst.exit, wasReady, u.isStopping()
		case <-u.stopping:
			cancel()
			u.set(Stopping, Event{PID: inst.id.PID})
			inst.terminate(u.grace, clk.After)
			inst.exit.Asked = true
			u.record(&inst.exit)
			return &inst.exit, wasReady, true
		}
	}
}

// probe probes until the program is ready; false: ctx ended.
func (u *unit) probe(ctx context.Context) bool {
	if u.spec.Ready == nil {
		return true
	}
	for {
		one, cancel := context.WithTimeout(ctx, u.sup.opts.ProbeTimeout)
		err := u.spec.Ready(one)
		cancel()
		if err == nil {
			return true
		}
		u.mu.Lock()
		u.probeErr = err
		u.mu.Unlock()
		select {
		case <-ctx.Done():
			return false
		case <-u.sup.opts.Clock.After(u.sup.opts.ProbeEvery):
		}
	}
}

// awaitReady returns at the first readiness or with the reason of the failure.
func (u *unit) awaitReady(ctx context.Context) error {
	for deaths := 0; ; {
		select {
		case <-u.everReady:
			return nil
		case <-u.stopped:
			return fmt.Errorf("start %s: stopped before it was ready", u.spec.Name)
		case exit := <-u.early:
			deaths++
			if deaths >= u.sup.opts.StartAttempts {
				return fmt.Errorf("start %s: died %d times before it was ready, last with %s%s",
					u.spec.Name, deaths, exit.Status, logged(u.spec.LogPath, exit.LastLines))
			}
		case <-ctx.Done():
			return fmt.Errorf("start %s: not ready: %w%s%s", u.spec.Name, context.Cause(ctx), u.probed(), logged(u.spec.LogPath, Tail(u.spec.LogPath, 0)))
		}
	}
}

// probed returns the last probe error for a message.
func (u *unit) probed() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.probeErr == nil {
		return ""
	}
	return " (last probe: " + u.probeErr.Error() + ")"
}

func logged(path string, lines []string) string {
	if len(lines) == 0 {
		return "; its log is empty (" + path + ")"
	}
	return "; last log lines (" + path + "):\n  " + strings.Join(lines, "\n  ")
}

// stop stops the program and waits until it has ended.
func (u *unit) stop() { u.stopWithin(u.spec.Grace) }

func (u *unit) stopWithin(grace time.Duration) {
	u.stopOnce.Do(func() {
		u.grace = grace // read after stopping is closed
		close(u.stopping)
	})
	<-u.stopped
}

func (u *unit) isStopping() bool {
	select {
	case <-u.stopping:
		return true
	default:
		return false
	}
}

func (u *unit) isEverReady() bool {
	select {
	case <-u.everReady:
		return true
	default:
		return false
	}
}

func (u *unit) markReady() {
	if !u.isEverReady() {
		close(u.everReady)
	}
}

func (u *unit) record(e *Exit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lastExit = e
}

func (u *unit) set(s State, ev Event) {
	u.mu.Lock()
	u.state = s
	u.mu.Unlock()
	ev.Name, ev.State, ev.At = u.spec.Name, s, u.sup.opts.Clock.Now()
	u.sup.opts.Notify(ev)
}

func (u *unit) status() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	st := Status{Name: u.spec.Name, State: u.state, Restarts: u.restarts, LogPath: u.spec.LogPath, LastExit: u.lastExit}
	if u.inst != nil && (u.state == Starting || u.state == Ready || u.state == Stopping) {
		st.Identity, st.Since = u.inst.id, u.inst.started
	}
	return st
}
