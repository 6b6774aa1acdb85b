package testpod

import (
	"context"
	"errors"
	"testing"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

func TestTheLeaseComesBeforeTheNamespace(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Unreachable(t)
	lost := errors.New("another process has the run")
	cluster.Namespace = "acceptance"
	cluster.RenewLease = func(context.Context) error { return lost }
	// A request to the cluster would fail with another error, after minutes.
	if _, err := Open(t.Context(), cluster, "r", "a", nil, clock.RealClock{}); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}
