package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// Regression: Kubeflow Trainer exited three times without a message because other labs used all
// 128 instances.
func TestInotifyUsed(t *testing.T) {
	instances := openInotify(t, 3)
	pid := startWith(t, "one-1", instances)
	counted := inotifyIn(t, pid, 128)
	if got := counted.used(); len(got) != 1 || got["one-1"] != len(instances) {
		t.Errorf("instances %v, want %d of lab one-1", got, len(instances))
	}
	counted.uid++
	if got := counted.used(); len(got) != 0 {
		t.Errorf("instances of another user: %v", got)
	}
}

// Regression: labs that started at the same moment each found enough free instances, and the last
// of them got none.
func TestReserveInotify(t *testing.T) {
	pid := startWith(t, "first-1", openInotify(t, 3))
	i := inotifyIn(t, pid, 2*inotifyNeed)
	i.uid++ // nothing is open
	first, err := i.reserve("first-1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := i.reserve("second-1")
	if err != nil {
		t.Fatal(err)
	}
	var short *inotifyError
	if _, err := i.reserve("third-1"); !errors.As(err, &short) || short.reserved != 2*inotifyNeed || !strings.Contains(err.Error(), "40 reserved by labs that start") {
		t.Errorf("a third lab: %v, want 40 instances reserved", err)
	}
	first()
	third, err := i.reserve("third-1")
	if err != nil {
		t.Errorf("after the first lab has started: %v", err)
	} else {
		third()
	}
	second()
}

// The instances that a lab has open are part of its reservation.
func TestOpenInotifyOfAReservation(t *testing.T) {
	const open = 3
	pid := startWith(t, "first-1", openInotify(t, open))
	i := inotifyIn(t, pid, 2*inotifyNeed)
	socket, err := i.reserve("first-1")
	if err != nil {
		t.Fatal(err)
	}
	defer socket()
	second, err := i.reserve("second-1")
	if err != nil {
		t.Fatalf("a second lab: %v", err)
	}
	second()
	i.limit--
	var short *inotifyError
	if _, err := i.reserve("second-1"); !errors.As(err, &short) || short.used != open || short.reserved != inotifyNeed-open {
		t.Errorf("a second lab with one instance less: %v, want %d open and %d reserved", err, open, inotifyNeed-open)
	}
}

func TestExplainInotify(t *testing.T) {
	const open = 3
	i := inotifyIn(t, startWith(t, "first-1", openInotify(t, open)), open+inotifyMost)
	ended := errors.New("kube-apiserver ended")
	if got := i.explain(ended); got != ended { //nolint:errorlint // the same error
		t.Errorf("enough instances: %v, want the component's error alone", got)
	}
	i.limit--
	if got := i.explain(ended); !errors.Is(got, ended) || !strings.Contains(got.Error(), "3 of 8 inotify instances open, and") {
		t.Errorf("too few instances: %v, want the component's error and the instances", got)
	}
}

// openInotify opens n inotify instances.
func openInotify(t *testing.T, n int) []*os.File {
	t.Helper()
	files := make([]*os.File, n)
	for i := range files {
		fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = os.NewFile(uintptr(fd), "inotify")
		t.Cleanup(func() { _ = files[i].Close() })
	}
	return files
}

// startWith starts a process of a lab that has the files open and returns its PID.
func startWith(t *testing.T, lab string, files []*os.File) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Env = []string{Marker + "=" + lab}
	cmd.ExtraFiles = files
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	err := poll.Until(t.Context(), time.Millisecond, "the environment", func(context.Context) error {
		if dir := fmt.Sprintf("/proc/%d", cmd.Process.Pid); labOf(dir) != lab {
			return errors.New("empty: the kernel has not set it yet")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// inotifyIn counts the instances of one process, and reservations of this test.
func inotifyIn(t *testing.T, pid, limit int) inotify {
	t.Helper()
	proc := t.TempDir()
	for name, to := range map[string]string{"1": fmt.Sprintf("/proc/%d", pid), "net": "/proc/net"} {
		if err := os.Symlink(to, filepath.Join(proc, name)); err != nil {
			t.Fatal(err)
		}
	}
	return inotify{proc, limit, os.Getuid(), "@firstlight/test" + proc + "/"}
}

// A lab waits for inotify instances, names reason and remedy, and fails after the timeout.
func TestLabWaitsForInotifyInstances(t *testing.T) {
	t.Parallel()
	const reason, remedy = "this user has 120 of 128 inotify instances open, and a lab needs 20", "sysctl fs.inotify.max_user_instances=1024"
	missing := &inotifyError{used: 120, limit: 128}
	for name, c := range map[string]struct {
		missing int // checks that find too few
		timeout time.Duration
		events  int
		fails   bool
	}{
		"enough from the start": {0, time.Minute, 0, false},
		"enough after a while":  {3, time.Minute, 2, false},
		"never enough":          {1 << 30, 200 * time.Millisecond, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var events []Event
			l, err := New(Options{Name: "x", Dir: t.TempDir(), Events: func(e Event) { events = append(events, e) }})
			if err != nil {
				t.Fatal(err)
			}
			defer l.sup.Close()
			checks := 0
			_, err = l.reserveInotify(t.Context(), func() (func(), error) {
				if checks++; checks <= c.missing {
					return nil, missing
				}
				return func() {}, nil
			}, c.timeout)
			if (err != nil) != c.fails || len(events) != c.events {
				t.Fatalf("error %v, events %+v", err, events)
			}
			if c.events > 0 && (events[0].Kind != KindWaiting || !strings.Contains(events[0].Message, reason) || !strings.Contains(events[0].Message, remedy)) {
				t.Errorf("the first event is %+v", events[0])
			}
			if c.fails && (!errors.Is(err, missing) || !strings.Contains(err.Error(), "not free after 200ms") || !strings.Contains(err.Error(), remedy)) {
				t.Errorf("error %v", err)
			}
		})
	}
}
