package testpod

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

func TestTheLeaseComesBeforeTheNamespace(t *testing.T) {
	t.Parallel()
	cluster, err := kube.New(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("another process has the run")
	cluster.Namespace = "acceptance"
	cluster.RenewLease = func(context.Context) error { return lost }
	// A request to the cluster would fail with another error, after minutes.
	if _, err := Open(t.Context(), cluster, "r", "a", clock.RealClock{}); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}
