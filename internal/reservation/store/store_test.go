package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reservation is a new one of a test.
func reservation(t *testing.T, k *store.Kube) *store.Reservation {
	t.Helper()
	name := fmt.Sprintf("t-%d", time.Now().UnixNano())
	r, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// admin is the user that the tests' store knows them as.
const admin = "firstlight:admin"

// full is a reservation with so many transitions: a write adds no more than stay in the status.
func full(t *testing.T, k *store.Kube, n int) *store.Reservation {
	t.Helper()
	r := reservation(t, k)
	for ; n > 8; n -= 8 {
		r = save(t, k, grown(r, 8))
	}
	return save(t, k, grown(r, n))
}

// grown is r with so many transitions more.
func grown(r *store.Reservation, n int) *store.Reservation {
	c := r.DeepCopy()
	for range n {
		c.Status.Events++
		c.Status.Recent = append(c.Status.Recent, lease.Event{
			N: c.Status.Events, At: metav1.NewMicroTime(noon.Add(time.Duration(c.Status.Events) * time.Second)), Type: lease.Notified, State: lease.Free,
			User: admin,
		})
	}
	return c
}

func save(t *testing.T, k *store.Kube, r *store.Reservation) *store.Reservation {
	t.Helper()
	out, err := k.Save(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// complete fails unless the history has all lines, each once.
func complete(t *testing.T, k *store.Kube, name string, want int) {
	t.Helper()
	all, err := k.History(t.Context(), name, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range all {
		if h.N != int64(i+1) {
			t.Fatalf("line %d is number %d", i+1, h.N)
		}
	}
	if len(all) != want {
		t.Errorf("%d lines, want %d", len(all), want)
	}
}

func TestConflict(t *testing.T) {
	k := shared.Kube(t)
	r := reservation(t, k)
	save(t, k, grown(r, 1))
	if _, err := k.Save(t.Context(), grown(r, 1)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an old version is written: %v", err)
	}
	complete(t, k, r.Name, 1)
}

func TestHistoryIsKept(t *testing.T) {
	for _, step := range []int{1, 3, 7} {
		t.Run(fmt.Sprint(step, " at a time"), func(t *testing.T) {
			k := shared.Kube(t)
			r := reservation(t, k)
			n := 0
			for n < 200 {
				r = save(t, k, grown(r, step))
				if n += step; len(r.Status.Recent) >= 24 {
					t.Fatalf("a status has %d lines", len(r.Status.Recent))
				}
			}
			complete(t, k, r.Name, n)
			since, err := k.History(t.Context(), r.Name, noon.Add(150*time.Second))
			if err != nil || len(since) != n-149 || since[0].N != 150 {
				t.Errorf("since a time: %d lines, %v", len(since), err)
			}
		})
	}
}

// Two that write at once keep the same piece of history, however much each adds: the
// one whose write is refused was the first to keep it.
func TestHistoryIsKeptByTwoAtOnce(t *testing.T) {
	k := shared.Kube(t)
	r := full(t, k, 23)
	other := r.DeepCopy()
	other.Status.DirtyInfo = &lease.DirtyInfo{Reason: "changed meanwhile"}
	now := save(t, k, other)
	if _, err := k.Save(t.Context(), grown(r, 1)); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("an old version is written: %v", err)
	}
	save(t, k, grown(now, 2))
	complete(t, k, r.Name, 25)
}

// Events that move to the archive during a read are not lost.
func TestHistoryIsReadWhileItGrows(t *testing.T) {
	k := shared.Kube(t)
	r := reservation(t, k)
	name := r.Name
	written := make(chan error, 1)
	go func() {
		var err error
		for range 150 {
			if r, err = k.Save(t.Context(), grown(r, 1)); err != nil {
				break
			}
		}
		written <- err
	}()
	for {
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			complete(t, k, name, 150)
			return
		default:
		}
		all, err := k.History(t.Context(), name, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range all {
			if h.N != int64(i+1) {
				t.Fatalf("line %d is number %d", i+1, h.N)
			}
		}
	}
}

// The API server refuses what a broken broker would write.
func TestRules(t *testing.T) {
	k := shared.Kube(t)
	good := func(t *testing.T) *store.Reservation {
		t.Helper()
		r := grown(reservation(t, k), 3)
		r.Status.State, r.Status.Token = lease.Leased, 7
		r.Status.Lease = &lease.Lease{Ticket: lease.Ticket{ID: "1", Holder: "ada"}, Token: 7}
		return save(t, k, r)
	}
	for name, c := range map[string]struct {
		spoil func(*store.Reservation)
		says  string
	}{
		"a token that goes back":  {func(r *store.Reservation) { r.Status.Token, r.Status.Lease.Token = 6, 6 }, "a token never goes back"},
		"a token that is gone":    {func(r *store.Reservation) { r.Status.Token = 0 }, "a token never goes back"},
		"history that is lost":    {func(r *store.Reservation) { r.Status.Events-- }, "history is never lost"},
		"leased, and no lease":    {func(r *store.Reservation) { r.Status.Lease = nil }, "a lease exists exactly when"},
		"free, and a lease":       {func(r *store.Reservation) { r.Status.State = lease.Free }, "a lease exists exactly when"},
		"a token not granted":     {func(r *store.Reservation) { r.Status.Lease.Token = 8 }, "its token was granted"},
		"an unknown state":        {func(r *store.Reservation) { r.Status.State = "busy" }, "Unsupported value"},
		"a lease without a token": {func(r *store.Reservation) { r.Status.Lease.Token = 0 }, "should be greater than or equal to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := good(t)
			c.spoil(r)
			if _, err := k.Save(t.Context(), r); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	t.Run("allowed", func(t *testing.T) {
		r := good(t)
		r.Status.Token, r.Status.Lease.Token = 8, 8
		save(t, k, r)
	})
}

func TestPiecesOfHistoryAreNotChanged(t *testing.T) {
	k := shared.Kube(t)
	r := full(t, k, 24)
	client, err := dynamic.NewForConfig(shared.Store(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	pieces := client.Resource(store.GroupVersion.WithResource("reservationhistories"))
	list, err := pieces.List(t.Context(), metav1.ListOptions{LabelSelector: "firstlight.dev/reservation=" + r.Name})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d pieces, %v", len(list.Items), err)
	}
	u := &list.Items[0]
	u.Object["events"] = []any{}
	if _, err := pieces.Update(t.Context(), u, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("history is changed: %v", err)
	}
}

// Old pieces are deleted by age and by number. The newest events stay, and so do pieces that no
// broker archived.
func TestHistoryIsPruned(t *testing.T) {
	k := shared.Kube(t)
	r := full(t, k, 72) // pieces from 1, 17, 33 and 49
	client, err := dynamic.NewForConfig(shared.Store(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	pieces := client.Resource(store.GroupVersion.WithResource("reservationhistories"))
	for _, name := range []string{r.Name + "-mine", "mine-1-1"} {
		foreign := &unstructured.Unstructured{Object: map[string]any{"events": []any{}}}
		foreign.SetGroupVersionKind(store.GroupVersion.WithKind("ReservationHistory"))
		foreign.SetName(name)
		foreign.SetLabels(map[string]string{"firstlight.dev/reservation": r.Name})
		if _, err := pieces.Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		oldest      time.Time
		most        int
		first, left int64
	}{
		{noon.Add(-time.Hour), 1000, 1, 72},
		{noon.Add(40 * time.Second), 1000, 33, 40},
		{noon.Add(-time.Hour), 31, 49, 24},
		{noon.Add(time.Hour), 16, 49, 24},
		{noon.Add(time.Hour), 0, 65, 8},
	} {
		if err := k.PruneHistory(t.Context(), tt.oldest, tt.most); err != nil {
			t.Fatal(err)
		}
		all, err := k.History(t.Context(), r.Name, time.Time{})
		if err != nil || int64(len(all)) != tt.left || all[0].N != tt.first {
			t.Errorf("since %s, at most %d: %d events from %d, want %d from %d (%v)", tt.oldest, tt.most, len(all), all[0].N, tt.left, tt.first, err)
		}
	}
	list, err := pieces.List(t.Context(), metav1.ListOptions{LabelSelector: "firstlight.dev/reservation=" + r.Name})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d pieces are left, want those of others (%v)", len(list.Items), err)
	}
}

// A write without status took token, lease and history from a reservation that was held.
func TestAStatusIsNotRemoved(t *testing.T) {
	k := shared.Kube(t)
	r := save(t, k, grown(reservation(t, k), 3))
	client, err := dynamic.NewForConfig(shared.Store(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	kind := client.Resource(store.GroupVersion.WithResource("reservations"))
	u, err := kind.Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	delete(u.Object, "status")
	if _, err := kind.UpdateStatus(t.Context(), u, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("the status is removed: %v", err)
	}
	complete(t, k, r.Name, 3)
}

// A copy forgets a deleted reservation after the next uncached read.
func TestCopyOfWhatWasDeleted(t *testing.T) {
	k := shared.Kube(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := store.NewCached(k)
	ended, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); <-ended })
	r := reservation(t, k)
	saved, err := c.Save(ctx, grown(r, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Delete(ctx, saved); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetUncached(ctx, r.Name); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("asked: %v", err)
	}
	polltest.Until(t, "the copy to forget it", func() bool {
		_, err := c.Get(ctx, r.Name)
		return errors.Is(err, store.ErrNotFound)
	})
}
