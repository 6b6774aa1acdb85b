package conformance

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

type recorder struct{}

func (recorder) Record(o check.Observation) (check.Observation, error) { return o, nil }

func (recorder) Progress(string, ...any) {}

func TestACheckHoldsTheLeaseOfItsRun(t *testing.T) {
	t.Parallel()
	lost := errors.New("another process has the run")
	d := Deps{Cluster: func(context.Context) (*kube.Cluster, error) {
		c, err := kube.New(&rest.Config{Host: "https://127.0.0.1:1"})
		if err == nil {
			c.Namespace, c.RenewLease = "acceptance", func(context.Context) error { return lost }
		}
		return c, err
	}}.WithDefaults(0)
	err := d.Observe(t.Context(), recorder{}, "a check", func(ctx context.Context, c *kube.Cluster, _ check.Observer) error {
		if c.Namespace != "acceptance" || c.RenewLease == nil {
			t.Fatalf("the cluster of the check has namespace %q, a Lease: %t", c.Namespace, c.RenewLease != nil)
		}
		return c.RenewLease(ctx)
	})
	if !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}
