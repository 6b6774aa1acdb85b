package operand

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

// Regression: on a machine at its limits the API server did not answer the release of a pod in time.
// No event followed, nothing tried again, and the pod was never ready.
func TestRetryWithoutEvent(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, obj := range c.store.List() {
		if p, ok := obj.(*corev1.Pod); ok && p.Name != Exporter {
			if err := c.store.Delete(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	var patches atomic.Int32
	client := fake.NewClientset()
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		patches.Add(1)
		return true, nil, errors.New("request did not complete within requested timeout")
	})
	c.client, c.log, c.poke = client, slog.New(slog.DiscardHandler), make(chan struct{}, 1)
	if _, err := c.world.AddFault(world.Fault{Kind: "operator-operand-not-ready", Target: "gpu-02", Options: map[string]string{"operand": Exporter}}); err != nil {
		t.Fatal(err)
	}
	go c.Run(t.Context())
	polltest.Until(t, "a second attempt", func() bool { return patches.Load() > 1 })
}

// Regression: whether the pods are settled was asked at the moment when a driver's installation
// ended. The question removed the installation, so that nothing released the pod any more.
func TestQuestionChangesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.kwok()
	c.expect(time.Now(), Driver)
	c.kwok()
	c.installing[Driver] = time.Now().Add(-2 * driverInstall)
	if err := c.Settled(); err == nil {
		t.Error("settled with a driver that is not released")
	}
	if !c.busy() {
		t.Error("the driver is forgotten")
	}
	c.expect(time.Now(), Driver)
	c.kwok()
	c.expect(time.Now(), Toolkit)
	if c.busy() {
		t.Error("a driver that is ready is still being installed")
	}
}
