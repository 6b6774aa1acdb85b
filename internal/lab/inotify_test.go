package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Regression: Kubeflow Trainer exited three times without a message because other labs used all
// 128 instances.
func TestInotifyUsed(t *testing.T) {
	fds := []int{-1, -1, -1}
	for i := range fds {
		fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Close(fd) }()
		fds[i] = fd
	}
	own := t.TempDir()
	if err := os.Symlink(fmt.Sprintf("/proc/%d", os.Getpid()), filepath.Join(own, "1")); err != nil {
		t.Fatal(err)
	}
	if got := inotifyUsed(own, os.Getuid()); got < len(fds) {
		t.Errorf("%d instances of this process, want %d", got, len(fds))
	}
	if got := inotifyUsed(own, os.Getuid()+1); got != 0 {
		t.Errorf("%d instances of another user", got)
	}
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
			err = l.awaitInotify(t.Context(), func() error {
				if checks++; checks <= c.missing {
					return missing
				}
				return nil
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
