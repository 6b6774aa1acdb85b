package storetest

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// PolicyActive reports whether the store refuses a line of history without the user that writes
// it. If not, the call adds a line.
func PolicyActive(ctx context.Context, k *store.Kube, name string) bool {
	r, err := k.Get(ctx, name)
	if err != nil {
		return false
	}
	r.Status.Events++
	r.Status.Recent = append(r.Status.Recent, lease.Event{N: r.Status.Events, At: metav1.NowMicro(), Type: lease.Notified, State: lease.Free})
	_, err = k.Save(ctx, r)
	return err != nil
}

// within bounds the wait; it is long because test machines are busy.
const within = 3 * time.Minute

// waitForPolicy waits until the admission policy is active: an API server reads policies about
// once a second.
func (s *Store) waitForPolicy(ctx context.Context) error {
	k, err := store.NewKube(s.Config)
	if err != nil {
		return err
	}
	probe, err := k.Create(ctx, &store.Reservation{ObjectMeta: metav1.ObjectMeta{GenerateName: "policed-"}})
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		return PolicyActive(ctx, k, probe.Name), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the admission policy: %w", err)
	}
	if probe, err = k.Get(ctx, probe.Name); err != nil {
		return err
	}
	return k.Delete(ctx, probe)
}
