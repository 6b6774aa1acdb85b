package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/firstlight/firstlight/internal/poll"
)

// PoolEnv has the directory that the test packages of a run share: its pool of labs
// (package labtest) and the slots of Admit.
const PoolEnv = "FIRSTLIGHT_TEST_POOL"

// The limits of Admit, for two cores: a lab's start needs 6 s of CPU time, and its API server
// answers too late for its clients where a computation takes ten times its CPU time.
const (
	alwaysAdmitted = 3   // tests that run upstream programs at once, however busy the machine is
	maxSlowdown    = 5.0 // with more tests
	slots          = 32

	// A lab's start takes the CPU for seconds: a shorter look admits all tests before it sees the first one's load.
	looks    = 10
	lookOver = 500 * time.Millisecond
)

var admitted sync.Map // tests, each with its slot

// Admit waits until the machine has the CPU time for another test that runs upstream
// programs, and counts this test as one until it ends. Fewer tests then run at once on a busy
// machine, instead of all of them missing their deadlines. Without PoolEnv it does nothing.
func Admit(tb testing.TB) {
	tb.Helper()
	pool := os.Getenv(PoolEnv)
	if _, again := admitted.LoadOrStore(tb, true); again || pool == "" {
		return
	}
	slot, err := admit(tb.Context(), filepath.Join(pool, "slots"), slowdown)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		admitted.Delete(tb)
		if err := slot.Close(); err != nil {
			tb.Error(err)
		}
	})
}

// admit takes a slot below dir. One test at a time decides, so that each sees the load of the
// one before it.
func admit(ctx context.Context, dir string, slowdown func(context.Context) (float64, error)) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	const interval = time.Second
	door := flock.New(filepath.Join(dir, "door"))
	if _, err := door.TryLockContext(ctx, interval/10); err != nil {
		return nil, fmt.Errorf("wait for other tests to be admitted: %w", err)
	}
	defer func() { _ = door.Close() }()
	var slot *flock.Flock
	err := poll.Until(ctx, interval, "the machine to be less busy", func(ctx context.Context) error {
		free, used, err := take(dir)
		if err != nil || used < alwaysAdmitted {
			slot = free
			return poll.Stop(err)
		}
		slow, err := slowdown(ctx)
		if err == nil && slow < maxSlowdown {
			slot = free
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%d tests run, and a computation takes %.1f times its CPU time", used, slow)
		}
		_ = free.Close()
		return err
	})
	return slot, err
}

// take locks a free slot and counts those in use.
func take(dir string) (free *flock.Flock, used int, err error) {
	for i := range slots {
		slot := flock.New(filepath.Join(dir, fmt.Sprintf("%02d", i)))
		ok, err := slot.TryLock()
		if err != nil {
			return nil, used, err
		}
		switch {
		case !ok:
			used++
		case free == nil:
			free = slot
		default:
			_ = slot.Close()
		}
	}
	if free == nil {
		return nil, used, fmt.Errorf("all %d slots are in use", slots)
	}
	return free, used, nil
}

// slowdown is how many times its CPU time a computation takes, over five seconds.
func slowdown(ctx context.Context) (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var wall, cpu time.Duration
	for range looks {
		began, used := time.Now(), time.Duration(0)
		before, err := threadTime()
		for err == nil && used < 20*time.Millisecond {
			var now time.Duration
			now, err = threadTime()
			used = now - before
		}
		if err != nil {
			return 0, fmt.Errorf("measure how busy the machine is: %w", err)
		}
		wall, cpu = wall+time.Since(began), cpu+used
		if err := poll.Sleep(ctx, lookOver); err != nil {
			return 0, err
		}
	}
	return wall.Seconds() / cpu.Seconds(), nil
}

// threadTime is the CPU time of the calling thread.
func threadTime() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
