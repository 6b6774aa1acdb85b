package suite

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Exclusive waits until no other test of the run uses or shares what it names, such as a port without a
// setting, and reserves it until the test ends. Without PoolEnv it does nothing.
func Exclusive(tb testing.TB, name string) {
	tb.Helper()
	tb.Cleanup(reserve(tb, name, (*flock.Flock).TryLockContext))
}

// Share waits until no other test of the run has reserved what it names, and keeps it from being reserved
// until release is called.
func Share(tb testing.TB, name string) (release func()) {
	tb.Helper()
	return reserve(tb, name, (*flock.Flock).TryRLockContext)
}

func reserve(tb testing.TB, name string, lock func(*flock.Flock, context.Context, time.Duration) (bool, error)) (release func()) {
	tb.Helper()
	pool := os.Getenv(PoolEnv)
	if pool == "" {
		return func() {}
	}
	file := flock.New(filepath.Join(pool, "exclusive-"+name))
	if _, err := lock(file, tb.Context(), time.Second); err != nil {
		tb.Fatalf("wait for %s: %v", name, err)
	}
	return func() {
		if err := file.Close(); err != nil {
			tb.Error(err)
		}
	}
}
