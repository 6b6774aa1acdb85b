package impact

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// sideBySide calls do for 0 to n-1 on as many goroutines as there are processors. The
// error is the context's, when it ended before all were done.
func sideBySide(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx) //nolint:wrapcheck // whoever ended it knows what it was
}
