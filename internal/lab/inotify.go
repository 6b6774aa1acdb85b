package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// inotifyNeed is the number of inotify instances of a lab with all extras, with some spare: API
// server 6, controller manager 2, scheduler 1, Karpenter, Trainer and JobSet up to 3 each.
const inotifyNeed = 20

// inotifyLimit has the kernel's limit of instances per user.
const inotifyLimit = "/proc/sys/fs/inotify/max_user_instances"

// inotifyTimeout is how long a lab waits for other labs to stop.
const inotifyTimeout = 5 * time.Minute

// inotifyError is returned when the user has too few free inotify instances.
type inotifyError struct{ used, limit int }

func (e *inotifyError) Error() string {
	return fmt.Sprintf("this user has %d of %d inotify instances open, and a lab needs %d: "+
		"stop another lab (firstlight lab down --name NAME), or raise the limit with: sysctl fs.inotify.max_user_instances=1024", e.used, e.limit, inotifyNeed)
}

// awaitInotify waits until the user has enough free inotify instances. Some programs end without
// an error message when they get none.
func (l *Lab) awaitInotify(ctx context.Context, check func() error, timeout time.Duration) error {
	short := check()
	if short == nil {
		return nil
	}
	l.event(Event{Kind: KindWaiting, Message: short.Error()})
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not free after %s", timeout))
	defer cancel()
	err := poll.Until(ctx, pollInterval, "inotify instances", func(context.Context) error { return check() })
	if err != nil {
		return err
	}
	l.event(Event{Kind: KindWaiting, Message: "enough inotify instances are free"})
	return nil
}

func checkInotify() error {
	raw, err := os.ReadFile(inotifyLimit)
	if err != nil {
		return nil //nolint:nilerr // not Linux or no /proc: the limit is unknown
	}
	limit, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	if used := inotifyUsed("/proc", os.Getuid()); used+inotifyNeed > limit {
		return &inotifyError{used, limit}
	}
	return nil
}

// inotifyUsed counts a user's open inotify instances that /proc shows.
func inotifyUsed(proc string, uid int) int {
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	used := 0
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // ended
		}
		if sys, ok := info.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != uid {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(dir, "fd"))
		for _, f := range files {
			if to, err := os.Readlink(filepath.Join(dir, "fd", f.Name())); err == nil && to == "anon_inode:inotify" {
				used++
			}
		}
	}
	return used
}
