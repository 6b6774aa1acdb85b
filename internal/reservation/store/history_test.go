package store_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// events are numbered from first to last; life is their actor.
func events(life string, begin time.Time, first, last int64) []lease.Event {
	var out []lease.Event
	for n := first; n <= last; n++ {
		out = append(out, lease.Event{N: n, At: metav1.NewMicroTime(begin.Add(time.Duration(n) * time.Second)), Type: lease.Notified, Actor: life})
	}
	return out
}

// A reservation that was deleted and created again has one history after the other.
func TestHistoryOfTwoLivesIsInOrder(t *testing.T) {
	later := noon.Add(24 * time.Hour)
	piece := func(life string, begin time.Time, first int64) store.ReservationHistory {
		return store.ReservationHistory{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("one-", first, "-", life), CreationTimestamp: metav1.NewTime(begin.Add(time.Duration(first+16) * time.Second))},
			Events:     events(life, begin, first, first+7),
		}
	}
	r := &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "2", CreationTimestamp: metav1.NewTime(later)}}
	r.Status.Recent = events("second", later, 9, 20) // the first are archived already
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any
		if strings.HasSuffix(req.URL.Path, "/one") {
			r.TypeMeta = metav1.TypeMeta{APIVersion: store.GroupVersion.String(), Kind: "Reservation"}
			answer = r
		} else {
			answer = &store.ReservationHistoryList{
				TypeMeta: metav1.TypeMeta{APIVersion: store.GroupVersion.String(), Kind: "ReservationHistoryList"},
				Items: []store.ReservationHistory{
					piece("first", noon, 1), piece("second", later, 1), piece("first", noon, 17), piece("second", later, 9), piece("first", noon, 9),
				},
			}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	k, err := store.NewKube(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.History(t.Context(), "one", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(events("first", noon, 1, 24), events("second", later, 1, 20))
	if !slices.EqualFunc(got, want, func(a, b lease.Event) bool { return a.N == b.N && a.Actor == b.Actor }) {
		var text []string
		for _, e := range got {
			text = append(text, fmt.Sprint(e.Actor, " ", e.N))
		}
		t.Errorf("got %v", text)
	}
}
