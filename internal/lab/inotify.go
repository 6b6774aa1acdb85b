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

// inotifyNeed is how many inotify instances the programs of a lab have open, with every
// extra and a few to spare: the API server 6, the controller manager 2, the scheduler 1,
// Karpenter, Trainer and JobSet up to 3 each.
const inotifyNeed = 20

// inotifyLimit is the file of the kernel that has the limit of a user's instances.
const inotifyLimit = "/proc/sys/fs/inotify/max_user_instances"

// inotifyPatience is how long a lab waits for other labs to end.
const inotifyPatience = 5 * time.Minute

// inotifyError says that this user can not open as many inotify instances as a lab needs.
type inotifyError struct{ used, limit int }

func (e *inotifyError) Error() string {
	return fmt.Sprintf("this user has %d of %d inotify instances open, and a lab needs up to %d: "+
		"end another lab (firstlight lab down --name NAME), or raise the limit with: sysctl fs.inotify.max_user_instances=1024", e.used, e.limit, inotifyNeed)
}

// awaitInotify waits until this user can open as many inotify instances as a lab needs. A
// program that gets none dies, some of them without a word why.
func (l *Lab) awaitInotify(ctx context.Context) error {
	short := checkInotify()
	if short == nil {
		return nil
	}
	l.event(Event{Kind: KindWaiting, Message: short.Error()})
	ctx, cancel := context.WithTimeout(ctx, inotifyPatience)
	defer cancel()
	err := poll.Until(ctx, pollInterval, "inotify instances", func(context.Context) error { return checkInotify() })
	if err != nil {
		return err
	}
	l.event(Event{Kind: KindWaiting, Message: "there are enough inotify instances now"})
	return nil
}

func checkInotify() error {
	raw, err := os.ReadFile(inotifyLimit)
	if err != nil {
		return nil //nolint:nilerr // not Linux, or no /proc: nothing is known, and the programs say it themselves
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

// inotifyUsed counts the inotify instances that are open in processes of a user, as far as
// /proc shows them.
func inotifyUsed(proc string, uid int) int {
	dirs, _ := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	used := 0
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // it has ended
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
