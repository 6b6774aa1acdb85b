package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder keeps events; a test can wait for one.
type recorder struct {
	mu     sync.Mutex
	events []Event
	more   chan struct{}
}

func newRecorder() *recorder { return &recorder{more: make(chan struct{})} }

func (r *recorder) note(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	close(r.more)
	r.more = make(chan struct{})
}

func (r *recorder) await(t *testing.T, what string, is func(Event) bool) Event {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		r.mu.Lock()
		events, more := r.events, r.more
		r.mu.Unlock()
		for _, e := range events {
			if is(e) {
				return e
			}
		}
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("no event: %s; got %+v", what, events)
		}
	}
}

func start(t *testing.T, opts Options) (*Supervisor, *recorder) {
	t.Helper()
	r := newRecorder()
	opts.Notify = r.note
	opts.FirstBackoff = time.Millisecond
	s := New(opts)
	t.Cleanup(s.Close)
	return s, r
}

func script(t *testing.T, name, text string) Spec {
	t.Helper()
	dir := t.TempDir()
	return Spec{
		Name: name, Path: "/bin/sh", Args: []string{"-c", text}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin"}, LogPath: filepath.Join(dir, "log"), Grace: 30 * time.Second,
	}
}

// fileExists is a probe.
func fileExists(path string) func(context.Context) error {
	return func(context.Context) error {
		_, err := os.Stat(path)
		return err
	}
}

func TestReadyNeedsProbe(t *testing.T) {
	t.Parallel()
	s, r := start(t, Options{})
	spec := script(t, "a", "touch serving; exec sleep 1000")
	spec.Ready = fileExists(filepath.Join(spec.Dir, "serving"))
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	r.await(t, "ready", func(e Event) bool { return e.State == Ready })
	st := s.Status()
	if len(st) != 1 || st[0].State != Ready || !st[0].Identity.Alive() {
		t.Errorf("status is %+v, want one ready process", st)
	}
	if err := s.Start(t.Context(), spec); err == nil {
		t.Error("a name was started twice")
	}
}

func TestLateStartReportsProbeError(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{})
	spec := script(t, "late", "echo still loading; exec sleep 1000")
	probed := make(chan struct{})
	var once sync.Once
	spec.Ready = func(context.Context) error {
		if lines := Tail(spec.LogPath, 0); len(lines) > 0 {
			once.Do(func() { close(probed) })
		}
		return errors.New("connection refused")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-probed; cancel(errors.New("out of time")) }()
	err := s.Start(ctx, spec)
	for _, want := range []string{"late", "out of time", "connection refused", "still loading"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not have %q", err, want)
		}
	}
	if st := s.Status(); len(st) != 0 {
		t.Errorf("after a failed start: %+v, want nothing", st)
	}
}

func TestFailedStartReportsExitAndLog(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{StartAttempts: 2})
	spec := script(t, "dies", "echo run >>runs; echo no such flag >&2; exit 7")
	spec.Ready = func(context.Context) error { return errors.New("never") }
	err := s.Start(t.Context(), spec)
	for _, want := range []string{"dies", "2 times", "exit status 7", "no such flag"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not have %q", err, want)
		}
	}
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{StartAttempts: 1})
	spec := script(t, "gone", "")
	spec.Path = filepath.Join(spec.Dir, "nothing")
	if err := s.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("error %v, want no such file", err)
	}
}

func TestExitIsReportedAndRestarted(t *testing.T) {
	t.Parallel()
	s, r := start(t, Options{})
	spec := script(t, "a", "echo I am $$; exec sleep 1000")
	spec.Ready = func(context.Context) error {
		if len(Tail(spec.LogPath, 0)) == 0 {
			return errors.New("not yet")
		}
		return nil
	}
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	first := s.Status()[0].Identity
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	death := r.await(t, "its death", func(e Event) bool { return e.State == Waiting })
	if death.Exit == nil || death.Exit.Status != "signal: killed" || death.Exit.Asked ||
		death.Exit.PID != first.PID || len(death.Exit.LastLines) == 0 {
		t.Errorf("death reported as %+v", death.Exit)
	}
	again := r.await(t, "its restart", func(e Event) bool { return e.State == Ready && e.PID != first.PID })
	st := s.Status()[0]
	if st.Restarts != 1 || st.Identity.PID != again.PID || st.LastExit == nil {
		t.Errorf("status is %+v, want one restart", st)
	}
}

// The program that ends last needs the others.
func TestCloseStopsWhatIsNeededLast(t *testing.T) {
	t.Parallel()
	s, r := start(t, Options{})
	for i := range 3 {
		spec := script(t, fmt.Sprint(i), fmt.Sprintf(`trap "sleep 0.%d; exit 0" TERM; touch serving; while :; do sleep 0.01; done`, i))
		spec.Ready, spec.Needs = fileExists(filepath.Join(spec.Dir, "serving")), []string{fmt.Sprint(i - 1), "objects"}
		if err := s.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	ids := s.Status()
	s.Close()
	var order []string
	for _, e := range r.events {
		if e.State == Stopped {
			order = append(order, e.Name)
			if e.Exit == nil || !e.Exit.Asked || e.Exit.Status != "exit status 0" {
				t.Errorf("%s ended with %+v, want an orderly end", e.Name, e.Exit)
			}
		}
	}
	if got := strings.Join(order, " "); got != "2 1 0" {
		t.Errorf("ended in the order %s, want 2 1 0", got)
	}
	for _, st := range ids {
		if st.Identity.Alive() {
			t.Errorf("%s still runs", st.Name)
		}
	}
	if err := s.Start(t.Context(), script(t, "x", "exit 0")); !errors.Is(err, ErrClosed) {
		t.Errorf("start after close: %v, want ErrClosed", err)
	}
}

// Each program ends when the other has received its signal too: one after the other, the first would be
// killed.
func TestCloseStopsInParallel(t *testing.T) {
	t.Parallel()
	s, r := start(t, Options{})
	dir := t.TempDir()
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		ended := func(name string) string { return filepath.Join(dir, name) }
		spec := script(t, names[0], fmt.Sprintf(`trap "touch %s; while ! test -e %s; do sleep 0.01; done; exit 0" TERM; touch serving; while :; do sleep 0.01; done`,
			ended(names[0]), ended(names[1])))
		spec.Ready = fileExists(filepath.Join(spec.Dir, "serving"))
		if err := s.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	for _, name := range []string{"a", "b"} {
		end := r.await(t, "its end", func(e Event) bool { return e.Name == name && e.State == Stopped })
		if end.Exit == nil || end.Exit.Status != "exit status 0" {
			t.Errorf("%s ended with %+v, want an orderly end", name, end.Exit)
		}
	}
}

func TestKillAfterGracePeriod(t *testing.T) {
	t.Parallel()
	s, r := start(t, Options{})
	spec := script(t, "deaf", `trap "" TERM; touch serving; while :; do sleep 1000; done`)
	spec.Ready = fileExists(filepath.Join(spec.Dir, "serving"))
	spec.Grace = 50 * time.Millisecond
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	s.Close()
	end := r.await(t, "its end", func(e Event) bool { return e.State == Stopped })
	if end.Exit == nil || end.Exit.Status != "signal: killed" {
		t.Errorf("it ended with %+v, want killed", end.Exit)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{})
	spec := script(t, "a", "exec sleep 1000")
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	first := s.Status()[0].Identity
	spec.Args = []string{"-c", "touch changed; exec sleep 1000"}
	spec.Ready = fileExists(filepath.Join(spec.Dir, "changed"))
	if err := s.Replace(t.Context(), spec, spec.Grace); err != nil {
		t.Fatal(err)
	}
	if first.Alive() {
		t.Error("the old process still runs")
	}
	if st := s.Status(); len(st) != 1 || st[0].State != Ready {
		t.Errorf("status is %+v, want one ready process", st)
	}
}

func TestStopDuringBackoff(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	s := New(Options{Notify: r.note, FirstBackoff: time.Hour, MaxBackoff: time.Hour})
	spec := script(t, "a", "exit 3")
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan error, 1)
	go func() { started <- s.Start(ctx, spec) }()
	r.await(t, "its death", func(e Event) bool { return e.State == Waiting })
	cancel()
	<-started // ready at once without a probe, or cancelled: both are valid
	s.Close() // must not wait an hour
}

// A halted program stays listed and stopped; Replace starts it, Remove removes it.
func TestHaltAndRemove(t *testing.T) {
	t.Parallel()
	s, _ := start(t, Options{})
	spec := script(t, "a", "exec sleep 1000")
	if err := s.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	first := s.Status()[0].Identity
	s.Halt("a", spec.Grace)
	s.Halt("a", spec.Grace)
	s.Halt("nobody", spec.Grace)
	if st := s.Status(); len(st) != 1 || st[0].State != Stopped || first.Alive() {
		t.Errorf("after a halt: %+v, want it listed and down", st)
	}
	if err := s.Replace(t.Context(), spec, spec.Grace); err != nil {
		t.Fatal(err)
	}
	second := s.Status()[0].Identity
	if st := s.Status(); len(st) != 1 || st[0].State != Ready {
		t.Errorf("after a replace: %+v, want it ready", st)
	}
	s.Remove("a")
	s.Remove("a")
	if st := s.Status(); len(st) != 0 || second.Alive() {
		t.Errorf("after a removal: %+v, want nothing", st)
	}
	if err := s.Start(t.Context(), spec); err != nil {
		t.Errorf("start after a removal: %v", err)
	}
}
