package suite

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/poll"
)

// busy is a machine on which a computation takes so many times its CPU time.
type busy struct {
	mu       sync.Mutex
	times    float64
	measured int
}

func (b *busy) slowdown(context.Context) (float64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.measured++
	return b.times, nil
}

func (b *busy) set(times float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times = times
}

func fill(t *testing.T, dir string, n int, b *busy) (taken []*flock.Flock) {
	t.Helper()
	for range n {
		slot, err := admit(t.Context(), dir, b.slowdown)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, slot)
		t.Cleanup(func() { _ = slot.Close() })
	}
	return taken
}

// A busy machine has always room for a few tests, an idle one for more.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	crowded, idle := &busy{times: 40}, &busy{times: 1}
	dir := t.TempDir()
	fill(t, dir, alwaysAdmitted, crowded)
	if crowded.measured > 0 {
		t.Errorf("the load was measured %d times: the first tests do not depend on it", crowded.measured)
	}
	fill(t, dir, 5, idle)
	if idle.measured != 5 {
		t.Errorf("the load was measured %d times for 5 more tests", idle.measured)
	}
}

// On a busy machine one more test is admitted when the machine is less busy or when another
// test ends, not before.
func TestAdmittedLater(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *busy, first *flock.Flock){
		"less busy":  func(b *busy, _ *flock.Flock) { b.set(maxSlowdown / 2) },
		"a test end": func(_ *busy, first *flock.Flock) { _ = first.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				b := &busy{times: 2 * maxSlowdown}
				first := fill(t, dir, alwaysAdmitted, b)[0]
				done := make(chan error)
				go func() {
					slot, err := admit(t.Context(), dir, b.slowdown)
					if err == nil {
						err = slot.Close()
					}
					done <- err
				}()
				if err := poll.Sleep(t.Context(), time.Minute); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				select {
				case err := <-done:
					t.Fatalf("admitted on a busy machine: %v", err)
				default:
				}
				end(b, first)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A test that is not admitted says why.
func TestNotAdmitted(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), &busy{times: 7}
	fill(t, dir, alwaysAdmitted, b)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := admit(ctx, dir, func(ctx context.Context) (float64, error) {
		if b.measured == 1 {
			cancel()
		}
		return b.slowdown(ctx)
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "3 tests run, and a computation takes 7.0 times its CPU time") {
		t.Errorf("got %v", err)
	}
	_, used, err := take(dir)
	if err != nil || used != alwaysAdmitted {
		t.Errorf("%d slots are in use, %v; want %d", used, err, alwaysAdmitted)
	}
}

// The measure sees processes that compete for the CPUs.
func TestSlowdown(t *testing.T) {
	t.Parallel()
	for range 6 * runtime.NumCPU() {
		loop := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = loop.Wait() })
	}
	got, err := slowdown(t.Context())
	if err != nil || got < 2 {
		t.Errorf("with six endless loops on every CPU, a computation takes %.1f times its CPU time, %v", got, err)
	}
}
