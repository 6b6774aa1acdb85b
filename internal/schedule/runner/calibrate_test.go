package runner

import (
	"context"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

// calibrate measures, until ctx ends, what CPU time a fixed piece of work takes: on a
// machine that others use it takes more, and so does everything else. It returns the
// middle of what it measured.
func calibrate(ctx context.Context, t *testing.T) func() time.Duration {
	t.Helper()
	done := make(chan []time.Duration)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var took []time.Duration
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		chain := make([]int32, 1<<20) // 4 MiB: does not stay in a cache that is shared
		for i := range chain {
			chain[i] = int32((i*7919 + 12345) % len(chain))
		}
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				done <- took
				return
			}
			begin := threadTime()
			at := int32(0)
			for range 20_000 {
				at = chain[at]
			}
			m := map[int32]int{}
			for i := range 4_000 {
				m[at+int32(i)] = i
			}
			took = append(took, threadTime()-begin)
		}
	}()
	return func() time.Duration {
		took := <-done
		slices.Sort(took)
		if len(took) == 0 {
			return 0
		}
		return took[len(took)/2]
	}
}

// rusageThread is RUSAGE_THREAD of getrusage(2).
const rusageThread = 1

func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
