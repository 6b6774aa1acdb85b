package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// A real store with archived history: a new collector reports the same as one that has counted all
// along.
func TestRealStore(t *testing.T) {
	k := shared.Kube(t)
	if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Spec: store.Spec{Cloud: "gcp", NeedsNoCleaning: true}}); err != nil {
		t.Fatal(err)
	}
	b := broker.New(broker.Options{Store: k})
	c := NewCollector(CollectorOptions{Store: k})
	want := func(what lease.EventType, n int) string {
		return fmt.Sprintf("reservation_events_total{reservation=r,type=%s} %d\n", what, n)
	}
	const rounds = 40 // of four transitions
	for i := range rounds {
		g, err := b.Acquire(t.Context(), broker.Request{Reservations: []string{"r"}, Ticket: lease.Ticket{Holder: "ada", Term: lease.Duration(time.Hour)}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 5 || i == rounds-1 {
			got := of(t, c) + "\n"
			for _, w := range []string{want(lease.Claimed, i+1), want(lease.Released, i), "reservation_state{cloud=gcp,reservation=r,state=leased} 1\n", "holder=ada", "lease_ends_timestamp_seconds{reservation=r}"} {
				if !strings.Contains(got, w) {
					t.Errorf("round %d: no %s in\n%s", i, w, got)
				}
			}
		}
		if err := b.Release(t.Context(), "r", g[0].Token, ""); err != nil {
			t.Fatal(err)
		}
	}
	h, err := k.EnsureHandOver(t.Context(), store.HandOverSpec{Entry: "evening-down", Action: "down", At: metav1.NewTime(noon), Until: metav1.NewTime(noon.Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	h.Status.Failed, h.Status.Finished = "r: it still exists", &metav1.Time{Time: noon}
	if _, err := k.SaveHandOver(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	first, second := of(t, c), of(t, NewCollector(CollectorOptions{Store: k}))
	if first != second {
		t.Errorf("a running collector reports\n%s\na new one\n%s", first, second)
	}
	if !strings.Contains(first, want(lease.Released, rounds)) || !strings.Contains(first, "handover_failed{entry=evening-down} 1") {
		t.Errorf("it tells\n%s", first)
	}

	nowhere, err := store.NewKube(&rest.Config{Host: "https://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(NewCollector(CollectorOptions{Store: nowhere}))
	if families, err := r.Gather(); err == nil || len(families) != 1 || families[0].GetMetric()[0].GetGauge().GetValue() != 0 {
		t.Errorf("an unreachable store reports %v, %v", families, err)
	}
}
