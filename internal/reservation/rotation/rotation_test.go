package rotation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/storetest"
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// cloud is one in memory, which does as it is told and remembers it.
type cloud struct {
	mu     sync.Mutex
	stands []hook.Deployment
	calls  []string
	broken map[hook.Verb]error
	ready  error
	lies   bool                        // what is said to be torn down still stands
	during func(context.Context) error // happens while something is provisioned
}

func (c *cloud) Owner() string { return "team-x" }

func (c *cloud) call(v hook.Verb, what string) error {
	c.calls = append(c.calls, fmt.Sprintf("%s %s", v, what))
	return c.broken[v]
}

func (c *cloud) Provision(ctx context.Context, row registry.Reservation, intent registry.Intent, name string, l hook.Lease) (hook.Deployment, error) {
	if c.during != nil {
		if err := c.during(ctx); err != nil {
			return hook.Deployment{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := hook.Deployment{Name: name, Owner: c.Owner(), Reservation: row.Name, Intent: intent, Token: l.Token}
	c.stands = append(c.stands, d) // also where it fails: half of it stands
	return d, c.call(hook.Provision, name)
}

func (c *cloud) Teardown(_ context.Context, _ registry.Reservation, name string, _ hook.Lease) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call(hook.Teardown, name); err != nil {
		return err
	}
	if !c.lies {
		c.stands = slices.DeleteFunc(c.stands, func(d hook.Deployment) bool { return d.Name == name })
	}
	return nil
}

func (c *cloud) Discover(_ context.Context, _ registry.Cloud, row *registry.Reservation, _ hook.Lease) ([]hook.Deployment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.call(hook.Discover, row.Name)
	var out []hook.Deployment
	for _, d := range c.stands {
		if d.Reservation == row.Name {
			out = append(out, d)
		}
	}
	return out, err
}

type day struct {
	*Rotation
	cloud *cloud
	b     *broker.Broker
	k     *store.Kube
	row   registry.Reservation
	now   time.Time
}

func newDay(t *testing.T) *day {
	t.Helper()
	k := shared.Kube(t)
	name := "rsv-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	d := &day{
		cloud: &cloud{broken: map[hook.Verb]error{}}, k: k, b: broker.New(broker.Options{Store: k}), now: time.Now(),
		row: registry.Reservation{Name: name, Slug: "r1", Cloud: registry.AWS, DaytimeIntent: registry.Training},
	}
	if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	d.Rotation = New(Options{
		Broker: d.b, Store: k, Hooks: d.cloud, Now: func() time.Time { return d.now },
		Ready: func(context.Context, registry.Reservation, string, hook.Lease) error { return d.cloud.ready },
	})
	return d
}

func (d *day) up(t *testing.T) Outcome {
	t.Helper()
	out, err := d.Up(t.Context(), d.row, d.now.Add(8*time.Hour), d.now.Add(10*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *day) down(t *testing.T, byHand bool) Outcome {
	t.Helper()
	out, err := d.Down(t.Context(), d.row, "evening", d.now.Add(time.Hour), byHand)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (d *day) state(t *testing.T) *store.Status {
	t.Helper()
	r, err := d.k.Get(t.Context(), d.row.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Status
}

func want(t *testing.T, got Outcome, result Result, why string) {
	t.Helper()
	if got.Result != result || !strings.Contains(got.Why, why) {
		t.Errorf("got %v, want %s because of %q", got, result, why)
	}
}

func TestADay(t *testing.T) {
	d := newDay(t)
	first := d.up(t)
	want(t, first, Stands, "")
	if s := d.state(t); s.Now() != lease.Leased || !s.Lease.Open || s.Lease.Until == nil {
		t.Errorf("nobody can take what stands: %+v", s.Lease)
	}
	want(t, d.up(t), Stands, "it stood already")
	ada, err := d.b.Take(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"})
	if err != nil || ada.Token <= first.Token {
		t.Fatalf("take: %v %+v", err, ada)
	}
	if _, err := d.b.Take(t.Context(), d.row.Name, lease.Ticket{Holder: "bob"}); !errors.Is(err, lease.ErrNotOpen) {
		t.Errorf("two people have it: %v", err)
	}
	if err := d.b.HandBack(t.Context(), d.row.Name, ada.Token, "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Renew(t.Context(), d.row.Name, ada.Token); !broker.Gone(err) {
		t.Errorf("who handed it back still has it: %v", err)
	}
	bob, err := d.b.Take(t.Context(), d.row.Name, lease.Ticket{Holder: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(8 * time.Hour)
	want(t, d.down(t, false), Asked, "bob has it until")
	if s := d.state(t); s.Lease.Notice == nil || s.Lease.Token != bob.Token {
		t.Errorf("bob was not asked: %+v", s.Lease)
	}
	d.now = d.now.Add(2 * time.Hour)
	out, err := d.Down(t.Context(), d.row, "evening", d.now.Add(-time.Hour), false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, out, Down, "")
	if s := d.state(t); s.Now() != lease.Free || len(d.cloud.stands) > 0 {
		t.Errorf("after the evening it is %s, and %v stands", s.Now(), d.cloud.stands)
	}
	want(t, d.down(t, false), Nothing, "nothing was stood up")
}

// Who extends keeps it until the end that he was given, whenever the evening is.
func TestExtendedOverTheEvening(t *testing.T) {
	d := newDay(t)
	d.up(t)
	ada, err := d.b.Take(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"})
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
	want(t, out, Asked, "ada has it until")
	if len(d.cloud.stands) != 1 {
		t.Errorf("it was taken down under ada: %v", d.cloud.calls)
	}
}

func TestUpWhereSomethingStands(t *testing.T) {
	d := newDay(t)
	d.cloud.stands = []hook.Deployment{{Name: "fl-day-r1-old", Owner: "team-x", Reservation: d.row.Name, Token: 7}}
	want(t, d.up(t), Blocked, "deployment fl-day-r1-old stands, of the lease with token 7, of team-x: its teardown was missed")
	if slices.ContainsFunc(d.cloud.calls, func(c string) bool { return strings.HasPrefix(c, "provision") }) {
		t.Errorf("something was stood up beside it: %v", d.cloud.calls)
	}
	out, err := d.Clean(t.Context(), d.row, "cleaner", false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, out, Blocked, "rotation down")
	want(t, d.down(t, true), Cleaned, "")
	want(t, d.up(t), Stands, "")
}

func TestUpThatFails(t *testing.T) {
	for name, breakIt := range map[string]func(*cloud){
		"provision": func(c *cloud) { c.broken[hook.Provision] = errors.New("no capacity") },
		"readiness": func(c *cloud) { c.ready = errors.New("2 of 4 nodes") },
		"discover":  func(c *cloud) { c.broken[hook.Discover] = errors.New("no permission") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDay(t)
			breakIt(d.cloud)
			want(t, d.up(t), Failed, "")
			if s := d.state(t); s.Now() != lease.Dirty {
				t.Fatalf("after a failure it is %s", s.Now())
			}
			d.cloud.broken, d.cloud.ready = map[hook.Verb]error{}, nil
			out, err := d.Clean(t.Context(), d.row, "cleaner", false)
			if err != nil {
				t.Fatal(err)
			}
			want(t, out, Cleaned, "")
			if len(d.cloud.stands) > 0 || d.state(t).Now() != lease.Free {
				t.Errorf("%v stands, and it is %s", d.cloud.stands, d.state(t).Now())
			}
		})
	}
}

// A lease that is lost while something is stood up ends the work; nothing is opened in
// its name.
func TestUpThatLosesItsLease(t *testing.T) {
	d := newDay(t)
	d.opts.Period = 500 * time.Millisecond
	d.cloud.during = func(ctx context.Context) error {
		if err := d.b.Evict(ctx, d.row.Name, d.state(t).Token, "somebody", "it is needed"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(2 * time.Minute):
			return errors.New("the work went on without a lease")
		}
	}
	want(t, d.up(t), Failed, "is stale")
	if s := d.state(t); s.Now() != lease.Dirty || s.Lease != nil {
		t.Errorf("%s, %+v", s.Now(), s.Lease)
	}
}

// What can not be taken down, or is not ours, keeps the reservation dirty.
func TestCleaningThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cloud)
		why    string
	}{
		"teardown":     {func(c *cloud) { c.broken[hook.Teardown] = errors.New("a load balancer is in the way") }, "load balancer"},
		"discover":     {func(c *cloud) { c.broken[hook.Discover] = errors.New("no permission") }, "no permission"},
		"a lie":        {func(c *cloud) { c.lies = true }, "still stands"},
		"not our own":  {func(c *cloud) { c.stands[0].Owner = "team-y" }, `of "team-y", not of "team-x"`},
		"left by none": {func(c *cloud) { c.stands[0].Owner = "" }, `of "", not`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDay(t)
			out := d.up(t)
			if err := d.b.Release(t.Context(), d.row.Name, out.Token, "done"); err != nil {
				t.Fatal(err)
			}
			c.change(d.cloud)
			got, err := d.Clean(t.Context(), d.row, "cleaner", false)
			if err != nil {
				t.Fatal(err)
			}
			want(t, got, Failed, c.why)
			if s := d.state(t); s.Now() != lease.Dirty || s.Dirt.Attempts != 1 || !strings.Contains(s.Dirt.Failure, c.why) {
				t.Errorf("%s, %+v", s.Now(), s.Dirt)
			}
		})
	}
}

// The batch's lease is not the evening's to end.
func TestDownWhileTheBatchHasIt(t *testing.T) {
	d := newDay(t)
	if _, err := d.b.Acquire(t.Context(), broker.Request{Reservations: []string{d.row.Name}, Ticket: lease.Ticket{Holder: "night", Purpose: "v1.2.0/training", Period: lease.Spans(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	want(t, d.down(t, true), Blocked, "night has it for v1.2.0/training")
	want(t, d.up(t), Blocked, "leased by night")
}

// What somebody else cleans is not clean: an evening was called done while it was being
// cleaned, which failed.
func TestCleanWhatSomebodyElseCleans(t *testing.T) {
	d := newDay(t)
	out := d.up(t)
	if err := d.b.Release(t.Context(), d.row.Name, out.Token, "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.b.Clean(t.Context(), d.row.Name, lease.Ticket{Holder: "another", Period: lease.Spans(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	got, err := d.Clean(t.Context(), d.row, "cleaner", false)
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, Blocked, "cleaning by another")
}
