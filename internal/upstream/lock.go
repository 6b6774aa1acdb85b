package upstream

import (
	"context"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// lockEvery is the pause between two tries of a lock that somebody else holds.
const lockEvery = 250 * time.Millisecond

// lock takes a file lock, calling waiting when somebody else holds it. The kernel
// frees it when the holder dies, so a dead builder blocks nobody.
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
