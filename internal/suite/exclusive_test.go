package suite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Tests share what none has reserved; a reservation waits for them.
func TestShare(t *testing.T) {
	pool := t.TempDir()
	t.Setenv(PoolEnv, pool)
	first, second := Share(t, "port"), Share(t, "port")
	locked := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		file := flock.New(filepath.Join(pool, "exclusive-port"))
		defer file.Close() //nolint:errcheck // it was opened for the question
		ok, err := file.TryLockContext(ctx, time.Millisecond)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		return ok
	}
	first()
	if locked() {
		t.Error("reserved while a test shares it")
	}
	second()
	if !locked() {
		t.Error("not free after the last test has released it")
	}
	t.Run("reserved", func(t *testing.T) {
		Exclusive(t, "port")
		if locked() {
			t.Error("reserved twice")
		}
	})
	if !locked() {
		t.Error("not free after the test that had reserved it")
	}
}
