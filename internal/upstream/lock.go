package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lockEvery is the retry interval of a held lock.
const lockEvery = 250 * time.Millisecond

// lock locks a file and calls waiting if another process holds the lock. The kernel releases it
// when the holder dies.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	held := flock.New(path, flock.SetPermissions(0o600))
	ok, err := held.TryLock()
	if err == nil && !ok {
		waiting()
		_, err = held.TryLockContext(ctx, lockEvery)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = held.Close() }, nil
}
