package broker

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// cached is a broker's own copy of the store, while the test lasts.
func cached(t *testing.T, k *store.Kube) *store.Cached {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := store.NewCached(k)
	ended, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

// reservations of a test, which are deleted after it.
func reservations(t *testing.T, k *store.Kube, spec store.Spec, names ...string) []string {
	t.Helper()
	for i, n := range names {
		names[i] = fmt.Sprintf("%s-%s", n, newID()[:6])
		r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: names[i]}, Spec: spec}
		if _, err := k.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx := context.WithoutCancel(t.Context())
			if r, err := k.Get(ctx, names[i]); err == nil {
				_ = k.Delete(ctx, r) // one that remains disturbs no test: names are unique
			}
		})
	}
	return names
}

func who(holder string) lease.Ticket {
	return lease.Ticket{Holder: holder, Purpose: "training", RenewInterval: lease.Duration(time.Minute)}
}
