package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Regression: leases were released one after another within 30 seconds in all, so that those after
// one without an answer were not released.
func TestLeaseWithoutAnswerDoesNotDelayTheReleaseOfOthers(t *testing.T) {
	const silent = 2 * maxAtEnd
	for doing, end := range map[string]func(ctx context.Context, b *Broker, grants []Grant) error{
		"release": func(ctx context.Context, b *Broker, grants []Grant) error { return b.ReleaseAll(ctx, grants, "done") },
		"return":  func(ctx context.Context, b *Broker, grants []Grant) error { return b.returnAll(ctx, grants) },
		"cancel the ticket for": func(ctx context.Context, b *Broker, grants []Grant) error {
			var names []string
			for _, g := range grants {
				names = append(names, g.Reservation)
			}
			return b.cancelTickets(ctx, names, grants[0].ID, "interrupted")
		},
	} {
		t.Run(doing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := map[string]Store{}
				var grants []Grant
				var last *view
				for i := range silent + 1 {
					name := fmt.Sprint("r", i)
					last = &view{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}}, user: "ada"}
					b := New(Options{Store: last, ID: func() string { return "ticket" }})
					got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
					if err != nil {
						t.Fatal(err)
					}
					u := &unreliable{view: last}
					if i == silent {
						u.answers, u.takes = 1, time.Second
					}
					grants, all[name] = append(grants, got...), u
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				err := end(ctx, New(Options{Store: several{Store: last, of: all}}), grants)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				for i := range silent + 1 {
					if has := strings.Contains(fmt.Sprint(err), fmt.Sprintf("%s r%d:", doing, i)); has != (i < silent) {
						t.Errorf("the error names r%d: %t", i, has)
					}
				}
				if l := last.r.Status.Lease; l != nil && !l.Offered() {
					t.Errorf("the lease of %s, which answers, is still held", last.r.Name)
				}
			})
		})
	}
}
