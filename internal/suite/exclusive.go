package suite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Exclusive waits until no other test of the run uses what it names, such as a port without a setting,
// and reserves it until the test ends. Without PoolEnv it does nothing.
func Exclusive(tb testing.TB, name string) {
	tb.Helper()
	pool := os.Getenv(PoolEnv)
	if pool == "" {
		return
	}
	lock := flock.New(filepath.Join(pool, "exclusive-"+name))
	if _, err := lock.TryLockContext(tb.Context(), time.Second); err != nil {
		tb.Fatalf("wait for %s: %v", name, err)
	}
	tb.Cleanup(func() {
		if err := lock.Close(); err != nil {
			tb.Error(err)
		}
	})
}
