package accept

import (
	"context"
	"errors"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// TestCleaningUpDoesNotWaitForTheCluster: its story is a facility gate of 0.1 s
// that took 6 s, because cleaning up after it waited for a lab to start.
func TestCleaningUpDoesNotWaitForTheCluster(t *testing.T) {
	t.Parallel()
	asked, never := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	w := &walk{opts: Options{Cluster: func(ctx context.Context) (*kube.Cluster, error) {
		close(asked)
		<-ctx.Done()
		close(never)
		return nil, ctx.Err()
	}}}
	reached := make(chan error, 1)
	go func() {
		_, err := w.reach(ctx)
		reached <- err
	}()
	<-asked
	if err := w.cleanGate(t.Context(), "facility"); err != nil {
		t.Error(err)
	}
	select {
	case <-never:
		t.Error("the cluster was waited for")
	default:
	}
	cancel()
	if err := <-reached; !errors.Is(err, context.Canceled) {
		t.Errorf("reach ended with %v", err)
	}
}
