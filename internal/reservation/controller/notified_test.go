package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// A holder with an extension keeps the deployment past the window of the evening. An operator who starts the entry
// manually wants the deployment removed, and has not got it.
func TestNoticeIsAFailureOfAManualDown(t *testing.T) {
	h := newHarness(t, "notified", at(t, "2027-01-10T13:30:00Z"))
	c := New(h.opts)
	due := at(t, "2027-01-10T01:00:00Z")
	for by, fails := range map[string]bool{"": false, "ada": true} {
		due = due.Add(time.Minute)
		o, err := c.open(t.Context(), store.HandOverSpec{
			Entry: h.name + "-down", Action: string(calendar.Down), At: metav1.NewTime(due), Until: metav1.NewTime(due.Add(time.Hour)), By: by,
		})
		if err != nil {
			t.Fatal(err)
		}
		l := newRunRecord(h.k, o)
		if err := l.write(t.Context(), func(s *store.HandOverStatus) {
			r := s.Row(h.name)
			r.Result, r.Reason, r.Ended = string(ResultNotified), "bob holds it", c.stamp()
		}); err != nil {
			t.Fatal(err)
		}
		if err := c.finish(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if failed := l.now().Status.Failed; (failed != "") != fails {
			t.Errorf("started by %q: failed %q", by, failed)
		}
	}
}
