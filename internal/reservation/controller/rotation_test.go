package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

type rotationDay struct {
	*Rotation
	cloud *cloud
	b     *broker.Broker
	k     *store.Kube
	row   config.Reservation
	now   time.Time
}

func newRotationDay(t *testing.T) *rotationDay {
	t.Helper()
	k := shared.Kube(t)
	name := "rsv-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	d := &rotationDay{
		cloud: newCloud(), k: k, b: broker.New(broker.Options{Store: k}), now: time.Now(),
		row: config.Reservation{Name: name, Slug: "r1", Cloud: config.AWS, DaytimeIntent: config.Training},
	}
	if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	d.Rotation = NewRotation(RotationOptions{
		Broker: d.b, Store: k, Hooks: d.cloud, Now: func() time.Time { return d.now },
		Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return d.cloud.ready },
	})
	return d
}

// times of a day with a notice of half an hour.
func (d *rotationDay) times() DayTimes {
	return DayTimes{DownAt: d.now.Add(450 * time.Minute), TermEndsAt: d.now.Add(8 * time.Hour), MaxEndsAt: d.now.Add(10 * time.Hour)}
}

func (d *rotationDay) up(t *testing.T) Outcome {
	t.Helper()
	out, err := d.Up(t.Context(), d.row, d.times())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *rotationDay) down(t *testing.T, byHand bool) Outcome {
	t.Helper()
	out, err := d.Down(t.Context(), d.row, "evening", d.now.Add(time.Hour), byHand)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *rotationDay) state(t *testing.T) *store.Status {
	t.Helper()
	r, err := d.k.Get(t.Context(), d.row.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Status
}

func wantOutcome(t *testing.T, got Outcome, result Result, reason string) {
	t.Helper()
	if got.Result != result || !strings.Contains(got.Reason, reason) {
		t.Errorf("got %v, want %s because of %q", got, result, reason)
	}
}

func TestADay(t *testing.T) {
	d := newRotationDay(t)
	first := d.up(t)
	wantOutcome(t, first, ResultUp, "")
	if s := d.state(t); s.CurrentState() != lease.Leased || !s.Lease.Available || s.Lease.ExpiresAt == nil {
		t.Errorf("not available for checkout: %+v", s.Lease)
	}
	wantOutcome(t, d.up(t), ResultUp, "it was up already")
	ada, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"})
	if err != nil || ada.Token <= first.Token {
		t.Fatalf("take: %v %+v", err, ada)
	}
	if _, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "bob"}); !errors.Is(err, lease.ErrNotAvailable) {
		t.Errorf("two people have it: %v", err)
	}
	if err := d.b.Checkin(t.Context(), d.row.Name, ada.Token, "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Renew(t.Context(), d.row.Name, ada.Token); !broker.IsLost(err) {
		t.Errorf("still held after checkin: %v", err)
	}
	bob, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(8 * time.Hour)
	wantOutcome(t, d.down(t, false), ResultNotified, "bob holds it until")
	if s := d.state(t); s.Lease.Notice == nil || s.Lease.Token != bob.Token {
		t.Errorf("bob was not asked: %+v", s.Lease)
	}
	d.now = d.now.Add(2 * time.Hour)
	out, err := d.Down(t.Context(), d.row, "evening", d.now.Add(-time.Hour), false)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, out, ResultDown, "")
	if s := d.state(t); s.CurrentState() != lease.Free || len(d.cloud.stands) > 0 {
		t.Errorf("after the evening it is %s, with deployments %v", s.CurrentState(), d.cloud.stands)
	}
	wantOutcome(t, d.down(t, false), ResultUnchanged, "there is no deployment")
}

// A holder who extended keeps it until the new end.
func TestExtendedOverTheEvening(t *testing.T) {
	d := newRotationDay(t)
	d.up(t)
	ada, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Extend(t.Context(), d.row.Name, ada.Token, 90*time.Minute, "one more run"); err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(8*time.Hour + time.Minute)
	out, err := d.Down(t.Context(), d.row, "evening", d.now, false)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, out, ResultNotified, "ada holds it until")
	if len(d.cloud.stands) != 1 {
		t.Errorf("it was taken down under ada: %v", d.cloud.calls)
	}
}

// A notice before the evening ends the regular term of the day; an extension stays.
func TestNoticeBeforeTheEvening(t *testing.T) {
	for name, extended := range map[string]bool{"regular": false, "extended": true} {
		t.Run(name, func(t *testing.T) {
			d := newRotationDay(t)
			d.up(t)
			ada, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			if extended {
				if _, err := d.b.Extend(t.Context(), d.row.Name, ada.Token, time.Hour, "one more run"); err != nil {
					t.Fatal(err)
				}
			}
			d.now = d.now.Add(2 * time.Hour)
			asked := d.now.Add(10 * time.Minute)
			out, err := d.Down(t.Context(), d.row, "ola", asked, true)
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, out, ResultNotified, "ada holds it until")
			if s := d.state(t); s.Lease.Notice == nil || s.Lease.Notice.At.Time.Equal(asked.Truncate(time.Microsecond)) == extended {
				t.Errorf("the notice is %+v", s.Lease.Notice)
			}
			d.now = asked
			if out, err = d.Down(t.Context(), d.row, "ola", asked, true); err != nil {
				t.Fatal(err)
			}
			if extended {
				wantOutcome(t, out, ResultNotified, "ada holds it until")
			} else {
				wantOutcome(t, out, ResultDown, "")
			}
		})
	}
}

func TestUpWhereSomethingStands(t *testing.T) {
	d := newRotationDay(t)
	d.cloud.stands = []hook.Deployment{{Name: "fl-day-r1-old", Owner: "team-x", Reservation: d.row.Name, Token: 7}}
	wantOutcome(t, d.up(t), ResultBlocked, "deployment fl-day-r1-old exists, with token 7, of owner team-x: its teardown was missed")
	if d.cloud.called(hook.Provision) > 0 {
		t.Errorf("a second deployment was created: %v", d.cloud.calls)
	}
	out, err := d.Clean(t.Context(), d.row, "cleaner", false)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, out, ResultBlocked, "rotation down")
	wantOutcome(t, d.down(t, true), ResultCleaned, "")
	wantOutcome(t, d.up(t), ResultUp, "")
}

func TestUpThatFails(t *testing.T) {
	for name, breakIt := range map[string]func(*cloud){
		"provision": func(c *cloud) { c.broken[hook.Provision] = 1 << 30 },
		"readiness": func(c *cloud) { c.ready = errors.New("2 of 4 nodes") },
		"discover":  func(c *cloud) { c.broken[hook.Discover] = 1 << 30 },
	} {
		t.Run(name, func(t *testing.T) {
			d := newRotationDay(t)
			breakIt(d.cloud)
			out := d.up(t)
			wantOutcome(t, out, ResultFailed, "")
			if f := out.Hook; (f == nil) != (name == "readiness") || f != nil && string(f.Verb) != name {
				t.Errorf("the failure of the hook is %+v", f)
			}
			if s := d.state(t); s.CurrentState() != lease.Dirty {
				t.Fatalf("after a failure it is %s", s.CurrentState())
			}
			d.cloud.broken, d.cloud.ready = nil, nil
			out, err := d.Clean(t.Context(), d.row, "cleaner", false)
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, out, ResultCleaned, "")
			if out.Hook != nil {
				t.Errorf("a hook failed: %+v", out.Hook)
			}
			if len(d.cloud.stands) > 0 || d.state(t).CurrentState() != lease.Free {
				t.Errorf("deployments %v, and it is %s", d.cloud.stands, d.state(t).CurrentState())
			}
		})
	}
}

// A lease lost during provisioning ends the work; nothing is published under it.
func TestUpThatLosesItsLease(t *testing.T) {
	d := newRotationDay(t)
	d.opts.RenewInterval = 6 * time.Second // shorter, a busy machine does not renew in time
	d.cloud.before = func(ctx context.Context, v hook.Verb, _ string, _ hook.Lease) error {
		if v != hook.Provision {
			return nil
		}
		if err := d.b.Evict(ctx, d.row.Name, d.state(t).Token, "somebody", "it is needed"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Minute):
			return errors.New("the work continued without a lease")
		}
	}
	wantOutcome(t, d.up(t), ResultFailed, "is stale")
	if s := d.state(t); s.CurrentState() != lease.Dirty || s.Lease != nil {
		t.Errorf("%s, %+v", s.CurrentState(), s.Lease)
	}
}

// A failed teardown, or a foreign deployment, keeps the reservation dirty.
func TestCleaningThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cloud)
		why    string
	}{
		"teardown":     {func(c *cloud) { c.broken[hook.Teardown] = 1 << 30 }, ": attempt 1: no permission"},
		"discover":     {func(c *cloud) { c.broken[hook.Discover] = 1 << 30 }, ": attempt 1: no permission"},
		"a lie":        {func(c *cloud) { c.lies = true }, "still exists"},
		"not our own":  {func(c *cloud) { c.stands[0].Owner = "team-y" }, `belongs to "team-y", not to "team-x"`},
		"left by none": {func(c *cloud) { c.stands[0].Owner = "" }, `belongs to "", not`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newRotationDay(t)
			out := d.up(t)
			if err := d.b.Release(t.Context(), d.row.Name, out.Token, "done"); err != nil {
				t.Fatal(err)
			}
			c.change(d.cloud)
			got, err := d.Clean(t.Context(), d.row, "cleaner", false)
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, got, ResultFailed, c.why)
			if f := got.Hook; (f != nil) != (d.cloud.broken[hook.Verb(name)] > 0) || f != nil && string(f.Verb) != name {
				t.Errorf("the failure of the hook is %+v", f)
			}
			if s := d.state(t); s.CurrentState() != lease.Dirty || s.DirtyInfo.Attempts != 1 || !strings.Contains(s.DirtyInfo.Failure, c.why) {
				t.Errorf("%s, %+v", s.CurrentState(), s.DirtyInfo)
			}
		})
	}
}

// The batch's lease is not the evening's to end.
func TestDownWhileTheBatchHasIt(t *testing.T) {
	d := newRotationDay(t)
	if _, err := d.b.Acquire(t.Context(), broker.Request{Reservations: []string{d.row.Name}, Ticket: lease.Ticket{Holder: "night", Purpose: "v1.2.0/training", RenewInterval: lease.Duration(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, d.down(t, true), ResultBlocked, "night holds it for v1.2.0/training")
	wantOutcome(t, d.up(t), ResultBlocked, "leased by night")
}

// Regression: an evening was reported as done while another holder was cleaning, which then
// failed.
func TestCleanWhatSomebodyElseCleans(t *testing.T) {
	d := newRotationDay(t)
	out := d.up(t)
	if err := d.b.Release(t.Context(), d.row.Name, out.Token, "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Clean(t.Context(), d.row.Name, lease.Ticket{Holder: "another", RenewInterval: lease.Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Clean(t.Context(), d.row, "cleaner", false)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, got, ResultBlocked, "cleaning by another")
}
