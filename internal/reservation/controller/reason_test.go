package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

const notReady = "deployment day-r1-1 is not ready: 1 of 2 nodes"

// slow is a rotation whose deployment is not ready before the end of the window.
type slow struct{ RotationRunner }

func (slow) Down(ctx context.Context, row config.Reservation, _ string, _ time.Time, _ bool) (Outcome, error) {
	<-ctx.Done()
	return Outcome{Reservation: row.Name, Result: ResultFailed, Deployment: "day-r1-1", Reason: notReady}, errors.Join(ctx.Err(), errors.New("not released"))
}

// At the end of a window, the reason of the failed attempt is recorded with the end.
func TestReasonOfAnAttemptOutlastsItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Rotation: slow{}})
		spec := store.HandOverSpec{Action: string(calendar.Down), Until: metav1.NewTime(time.Now().Add(time.Minute))}
		o, err := c.try(t.Context(), spec, config.Reservation{Name: "r1"})
		if err != nil || o.Result != ResultFailed || o.Deployment != "day-r1-1" {
			t.Errorf("%+v, %v", o, err)
		}
		for _, want := range []string{"end of the window", notReady, "not released"} {
			if !strings.Contains(o.Reason, want) {
				t.Errorf("reason %q lacks %q", o.Reason, want)
			}
		}
	})
}
