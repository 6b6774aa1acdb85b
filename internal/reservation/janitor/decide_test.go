package janitor

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

var now = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

func at(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t) }

// left is the view of a deployment whose lease is over, of a dirty reservation.
func left() View {
	return View{
		Now: now, OlderThan: 24 * time.Hour, Owner: "team-a", Known: true,
		Deployment: hook.Deployment{Name: "fl-day-ah1-x", Owner: "team-a", Reservation: "aws-h100", Token: 7, Created: now.Add(-25 * time.Hour)},
		Record:     &lease.Record{State: lease.Dirty, Token: 7, DirtyInfo: &lease.DirtyInfo{Reason: "expired"}},
		Ended:      &lease.Event{At: at(now.Add(-10 * time.Hour)), Type: lease.Expired, Token: 7, Reason: "ada has not renewed it"},
	}
}

func held(state lease.State, token int64, holder string, claimed bool) *lease.Record {
	r := &lease.Record{State: state, Token: token, Lease: &lease.Lease{Ticket: lease.Ticket{Holder: holder}, Token: token}}
	if claimed {
		m := at(now)
		r.Lease.ClaimedAt = &m
	}
	return r
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*View)
		want   Verdict
		why    string
	}{
		{"left", func(*View) {}, Remove, "its lease 7 ended at 2026-11-20T17:00:00Z: expired, ada has not renewed it"},
		{"end unknown", func(v *View) { v.Ended = nil }, Remove, "ended before the start of the history"},
		{"of a free reservation", func(v *View) { v.Record = &lease.Record{Token: 9} }, Remove, "its lease 7 ended"},
		{"offered to another holder", func(v *View) { v.Record = held(lease.Leased, 9, "bob", false) }, Remove, "its lease 7 ended"},
		{"under our own lease", func(v *View) { v.Record, v.Cleaning = held(lease.Cleaning, 9, "janitor", true), 9 }, Remove, "its lease 7"},
		{"no label", func(v *View) { v.Deployment.Owner = "" }, Kept, "it has no owner label, so another tool owns it"},
		{"another's", func(v *View) { v.Deployment.Owner = "team-b" }, Kept, "its owner is team-b"},
		{"no reservation", func(v *View) { v.Deployment.Reservation = "" }, Kept, "its use is unknown"},
		{"no token", func(v *View) { v.Deployment.Token = 0 }, Kept, "its use is unknown"},
		{"not in the store", func(v *View) { v.Record = nil }, Blocked, "not in the store and the registry"},
		{"not in the registry", func(v *View) { v.Known = false }, Blocked, "not in the store and the registry"},
		{"not in the registry, of another owner", func(v *View) { v.Known, v.Deployment.Owner = false, "team-b" }, Kept, "its owner is team-b"},
		{"live", func(v *View) { v.Record = held(lease.Leased, 7, "ada", true) }, Kept, "lease 7 of ada is live"},
		{"checked out", func(v *View) { v.Record = held(lease.Leased, 9, "ada", true); v.Record.Lease.ProvisionedBy = 7 }, Kept, "it is published, under lease 9 of ada"},
		{"of another day", func(v *View) { v.Record = held(lease.Leased, 9, "ada", true); v.Record.Lease.ProvisionedBy = 8 }, Blocked, "ada has the reservation"},
		{"another has it", func(v *View) { v.Record = held(lease.Leased, 9, "bob", true) }, Blocked, "bob has the reservation under lease 9"},
		{"being cleaned", func(v *View) { v.Record = held(lease.Cleaning, 9, "rotation", true) }, Kept, "rotation is cleaning the reservation"},
		{"being cleaned by another than us", func(v *View) { v.Record, v.Cleaning = held(lease.Cleaning, 9, "rotation", true), 8 }, Kept, "rotation is cleaning"},
		{"young", func(v *View) { v.Deployment.Created = now.Add(-23 * time.Hour) }, Kept, "it is younger than 24h0m0s"},
		{"as old as may be", func(v *View) { v.Deployment.Created = now.Add(-24 * time.Hour) }, Remove, "its lease 7"},
		{"of tomorrow", func(v *View) { v.Deployment.Created = now.Add(24 * time.Hour) }, Kept, "it is younger"},
		{"no age", func(v *View) { v.Deployment.Created = time.Time{} }, Kept, "its age is unknown"},
		{"a restored store", func(v *View) { v.Record.Token = 6 }, Blocked, "confirm-restore aws-h100 --grant 7 --why REASON"},
		{"a restored store, after a failed cleaning", func(v *View) { v.Record.Token, v.Record.DirtyInfo.Token = 9, 6 }, Blocked, "rotation down --reservation aws-h100"},
		{"a restored store, under our own lease", func(v *View) {
			v.Record, v.Cleaning = held(lease.Cleaning, 9, "janitor", true), 9
			v.Record.DirtyInfo = &lease.DirtyInfo{Token: 6}
		}, Blocked, "rotation down --reservation aws-h100"},
		{"left by its own lease", func(v *View) { v.Record.Token, v.Record.DirtyInfo.Token = 9, 7 }, Remove, "its lease 7 ended"},
		{"needs an operator", func(v *View) { v.Record.DirtyInfo.ManualOnly = true }, Blocked, "rotation down --reservation aws-h100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := left()
			tt.change(&v)
			if got, reason := Decide(v); got != tt.want || !strings.Contains(reason, tt.why) {
				t.Errorf("%s: %s\nwant %s: %s", got, reason, tt.want, tt.why)
			}
		})
	}
}

func TestEndOf(t *testing.T) {
	t.Parallel()
	history := []lease.Event{
		{N: 1, Type: lease.Claimed, Token: 7}, {N: 2, Type: lease.Released, Token: 7}, {N: 3, Type: lease.Claimed, Token: 9}, {N: 4, Type: lease.Notified, Token: 9},
	}
	if got := endOf(history, 7); got == nil || got.N != 2 {
		t.Errorf("the end of 7 is %+v", got)
	}
	if got := endOf(history, 9); got != nil {
		t.Errorf("the end of 9 is %+v", got)
	}
}
