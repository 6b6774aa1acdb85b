package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// inotifyNeed is the number of inotify instances of a lab with all extras, with some spare: API
// server 6, controller manager 2, scheduler 1, Karpenter, Trainer and JobSet up to 3 each.
const inotifyNeed = 20

// inotifyMost is the most that one component has: the API server.
const inotifyMost = 6

// inotifyLimit has the kernel's limit of instances per user.
const inotifyLimit = "/proc/sys/fs/inotify/max_user_instances"

// inotifyTimeout is how long a lab waits for other labs to stop.
const inotifyTimeout = 5 * time.Minute

// inotifyError is returned when the user has too few free inotify instances.
type inotifyError struct{ used, reserved, limit int }

func (e *inotifyError) Error() string {
	reserved := ""
	if e.reserved > 0 {
		reserved = fmt.Sprintf(" (and %d reserved by labs that start)", e.reserved)
	}
	return fmt.Sprintf("this user has %d of %d inotify instances open%s, and a lab needs %d: "+
		"stop another lab (firstlight lab down --name NAME), or raise the limit with: sysctl fs.inotify.max_user_instances=1024",
		e.used, e.limit, reserved, inotifyNeed)
}

// inotify is where a user's inotify instances are counted.
type inotify struct {
	proc   string // /proc
	limit  int
	uid    int
	prefix string // of the names of reservations, before the lab's ID
}

// reserveInotify waits until the user has enough free inotify instances and reserves them until
// release is called or the process ends. Some programs end without an error message when they
// get none.
func (l *Lab) reserveInotify(ctx context.Context, reserve func() (func(), error), timeout time.Duration) (release func(), err error) {
	release, short := reserve()
	if short == nil {
		return release, nil
	}
	l.event(Event{Kind: KindWaiting, Message: short.Error()})
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not free after %s", timeout))
	defer cancel()
	err = poll.Until(ctx, pollInterval, "inotify instances", func(context.Context) error {
		release, short = reserve()
		return short
	})
	if err != nil {
		return nil, err
	}
	l.event(Event{Kind: KindWaiting, Message: "enough inotify instances are free"})
	return release, nil
}

// userInotify returns the counts of this user; false where the limit is unknown: not Linux, or
// no /proc.
func userInotify() (inotify, bool) {
	raw, err := os.ReadFile(inotifyLimit)
	if err != nil {
		return inotify{}, false
	}
	limit, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	uid := os.Getuid()
	return inotify{"/proc", limit, uid, fmt.Sprintf("@firstlight/inotify/%d/", uid)}, err == nil
}

// reserve reserves a lab's inotify instances. The reservation is a listening abstract Unix socket,
// which the kernel closes with the process.
func (i inotify) reserve(id string) (release func(), err error) {
	socket, err := net.Listen("unix", i.prefix+id) //nolint:noctx // it returns at once
	if err != nil {
		return nil, fmt.Errorf("reserve inotify instances: %w", err)
	}
	release = func() { _ = socket.Close() }
	if err := i.check(id); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// check returns an inotifyError if the lab's instances exceed what others have open or reserved.
func (i inotify) check(id string) error {
	starting := i.starting()
	delete(starting, id)
	used := i.used()
	open, reserved := 0, 0
	for owner, n := range used {
		open += n
		if starting[owner] {
			reserved -= min(n, inotifyNeed)
		}
	}
	reserved += inotifyNeed * len(starting)
	if open-used[id]+reserved+inotifyNeed > i.limit {
		return &inotifyError{open, reserved, i.limit}
	}
	return nil
}

// explain adds the lack of inotify instances to the error of a component that did not start: the
// component's own log may say nothing of it.
func (i inotify) explain(err error) error {
	used := 0
	for _, n := range i.used() {
		used += n
	}
	if used+inotifyMost > i.limit {
		return errors.Join(err, &inotifyError{used: used, limit: i.limit})
	}
	return err
}
