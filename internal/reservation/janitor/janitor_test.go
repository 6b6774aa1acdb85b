package janitor

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

var (
	_ Broker = (*broker.Broker)(nil)
	_ Store  = (*store.Kube)(nil)
	_ Hooks  = (*hook.Client)(nil)
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// clouds has deployments and hooks into discover and teardown.
type clouds struct {
	t      *testing.T
	stands []hook.Deployment
	// looked and torn are called first and may change the deployments.
	looked func(cloud config.Cloud, l hook.Lease) error
	torn   func(name string) error
	gone   []string
	broker *broker.Broker
}

func (*clouds) Owner() string { return "team-a" }

func (c *clouds) Discover(_ context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error) {
	if c.looked != nil {
		if err := c.looked(cloud, l); err != nil {
			return nil, err
		}
	}
	if cloud != config.AWS {
		return nil, nil
	}
	var out []hook.Deployment
	for _, d := range c.stands {
		if row == nil || d.Reservation == row.Name {
			out = append(out, d)
		}
	}
	return out, nil
}

func (c *clouds) Teardown(ctx context.Context, row config.Reservation, name string, l hook.Lease) error {
	if err := c.broker.Check(ctx, row.Name, l.Token); err != nil {
		c.t.Errorf("torn down under a lease that is not live: %v", err)
	}
	if c.torn != nil {
		if err := c.torn(name); err != nil {
			return err
		}
	}
	c.gone = append(c.gone, name)
	c.stands = slices.DeleteFunc(c.stands, func(d hook.Deployment) bool { return d.Name == name })
	return nil
}

// bench is a janitor of one reservation in a real store.
type bench struct {
	*Janitor
	*clouds
	kube *store.Kube
	name string
}

func newBench(t *testing.T, name string) *bench {
	t.Helper()
	k := shared.Kube(t)
	if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	b := broker.New(broker.Options{Store: k})
	c := &clouds{t: t, broker: b}
	reg := &config.Registry{Reservations: []config.Reservation{{Name: name, Slug: "ah1", Cloud: config.AWS}, {Name: "gcp-h100", Slug: "gh1", Cloud: config.GCP}}}
	j := New(Options{Registry: reg, Store: k, Broker: b, Hooks: c, Holder: "janitor", OlderThan: time.Hour, Now: time.Now})
	return &bench{j, c, k, name}
}

// leave creates an ended lease and a deployment that it left.
func (b *bench) leave(t *testing.T, expired bool) {
	t.Helper()
	l := b.acquire(t, "ada")
	b.stands = append(b.stands, hook.Deployment{Name: "fl-day-ah1-x", Owner: "team-a", Reservation: b.name, Token: l.Token, Created: time.Now().Add(-2 * time.Hour).Truncate(time.Second)})
	if err := b.broker.Release(t.Context(), b.name, l.Token, "done"); err != nil {
		t.Fatal(err)
	}
	if !expired { // cleaning missed the deployment
		b.free(t)
	}
}

func (b *bench) free(t *testing.T) {
	t.Helper()
	c, err := b.broker.Clean(t.Context(), b.name, lease.Ticket{Holder: "rotation"})
	if err == nil {
		err = b.broker.FinishClean(t.Context(), b.name, c.Token, "clean")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) acquire(t *testing.T, holder string) lease.Lease {
	t.Helper()
	got, err := b.broker.Acquire(t.Context(), broker.Request{Reservations: []string{b.name}, Ticket: lease.Ticket{Holder: holder, RenewInterval: lease.Duration(time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	return got[0].Lease
}

func (b *bench) look(t *testing.T) Report {
	t.Helper()
	r, err := b.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) state(t *testing.T) lease.State {
	t.Helper()
	r, err := b.kube.GetUncached(t.Context(), b.name)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status.CurrentState()
}

func TestLooking(t *testing.T) {
	b := newBench(t, "look")
	b.leave(t, true)
	r := b.look(t)
	if len(r.Decisions) != 1 || r.Decisions[0].Verdict != Remove || !strings.Contains(r.Decisions[0].Reason, "released, done") || r.Enforced {
		t.Errorf("%+v", r)
	}
	if len(b.gone) > 0 || b.state(t) != lease.Dirty {
		t.Errorf("looking removed %v, and the reservation is %s", b.gone, b.state(t))
	}
	b.looked = func(cloud config.Cloud, _ hook.Lease) error {
		if cloud == config.AWS {
			return errors.New("no rights")
		}
		return nil
	}
	r, err := b.Enforce(t.Context(), b.look(t))
	if err != nil || r.Count(Blocked) != 1 || r.Count(Removed) != 0 || !strings.Contains(r.Decisions[0].Reason, "no rights") || len(b.gone) > 0 {
		t.Errorf("a cloud that cannot be listed: %v %+v, removed %v", err, r, b.gone)
	}
}

func TestEnforcing(t *testing.T) {
	for _, tt := range []struct {
		name    string
		expired bool
		// before is between looking and enforcing, under is when it looks under its lease.
		before func(t *testing.T, b *bench)
		under  func(b *bench) error
		torn   error
		want   Verdict
		why    string
		state  lease.State
		gone   int
		fails  bool
	}{
		{"dirty", true, nil, nil, nil, Removed, "its lease", lease.Free, 1, false},
		{"free", false, nil, nil, nil, Removed, "its lease", lease.Free, 1, false},
		{"taken-meanwhile", false, func(t *testing.T, b *bench) { b.acquire(t, "bob") }, nil, nil, Blocked, "the reservation is leased", lease.Leased, 0, false},
		{"cleaned-meanwhile", true, func(t *testing.T, b *bench) {
			if _, err := b.broker.Clean(t.Context(), b.name, lease.Ticket{Holder: "rotation"}); err != nil {
				t.Fatal(err)
			}
		}, nil, nil, Blocked, "the reservation is cleaning", lease.Cleaning, 0, false},
		{"gone-already", true, nil, func(b *bench) error { b.stands = nil; return nil }, nil, Removed, "it was removed already", lease.Free, 0, false},
		{"another-of-the-name", true, nil, func(b *bench) error { b.stands[0].Token++; return nil }, nil, Blocked, "its labels have changed", lease.Dirty, 0, false},
		{"younger-than-it-seemed", true, nil, func(b *bench) error { b.tooYoung(); return nil }, nil, Kept, "it is younger", lease.Dirty, 0, false},
		{"unseen", true, nil, func(*bench) error { return &hook.FailedError{Verb: hook.Discover, Err: errors.New("no rights")} }, nil, Failed, "no rights", lease.Dirty, 0, true},
		{"not-removed", true, nil, nil, &hook.FailedError{Verb: hook.Teardown, Err: errors.New("it depends on a network")}, Failed, "it depends on a network", lease.Dirty, 0, true},
		{"another-stands", true, nil, func(b *bench) error {
			if len(b.stands) == 1 && b.stands[0].Name != "fl-other" {
				b.stands = append(b.stands, hook.Deployment{Name: "fl-other", Owner: "team-b", Reservation: b.name})
			}
			return nil
		}, nil, Removed, "its lease", lease.Dirty, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.name)
			b.leave(t, tt.expired)
			b.torn = func(string) error { return tt.torn }
			report := b.look(t)
			if report.Count(Remove) != 1 {
				t.Fatalf("before: %+v", report)
			}
			if tt.before != nil {
				tt.before(t, b)
			}
			b.looked = func(_ config.Cloud, l hook.Lease) error {
				if l.Token == 0 {
					t.Error("it looks without its lease")
				}
				if tt.under == nil {
					return nil
				}
				return tt.under(b)
			}
			after, err := b.Enforce(t.Context(), report)
			if (err != nil) != tt.fails {
				t.Errorf("the error is %v", err)
			}
			if d := after.Decisions[0]; d.Verdict != tt.want || !strings.Contains(d.Reason, tt.why) {
				t.Errorf("%s: %s\nwant %s: %s", d.Verdict, d.Reason, tt.want, tt.why)
			} else if (d.Hook != nil) != (tt.want == Failed) {
				t.Errorf("%s: the failure of the hook is %+v", d.Verdict, d.Hook)
			}
			if got := b.state(t); got != tt.state || len(b.gone) != tt.gone {
				t.Errorf("the reservation is %s, removed %v; want %s, %d", got, b.gone, tt.state, tt.gone)
			}
		})
	}
}

// tooYoung makes everything too young.
func (b *bench) tooYoung() { b.opts.OlderThan = 1000 * time.Hour }

// A reservation that was quarantined after the decision is left to its operator.
func TestQuarantinedMeanwhileIsLeftToAnOperator(t *testing.T) {
	b := newBench(t, "quarantined")
	b.leave(t, true)
	report, err := b.Inspect(t.Context())
	if err != nil || report.Count(Remove) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	b.free(t)
	if err := b.broker.QuarantineFree(t.Context(), b.name, "guard", "a deployment exists"); err != nil {
		t.Fatal(err)
	}
	report, err = b.Enforce(t.Context(), report)
	if err != nil || report.Count(Blocked) != 1 || len(b.gone) != 0 {
		t.Errorf("%+v, removed %v, %v", report, b.gone, err)
	}
	if r, err := b.kube.Get(t.Context(), b.name); err != nil || r.Status.DirtyInfo == nil || !r.Status.DirtyInfo.ManualOnly {
		t.Errorf("%+v, %v", r.Status.Record, err)
	}
}

// A deployment is found after the last row of its cloud has left the registry.
func TestCloudWithoutARowIsListed(t *testing.T) {
	c := &clouds{t: t, stands: []hook.Deployment{{Name: "fl-day-ah1-x", Owner: "team-a", Reservation: "aws-h100", Token: 7}}}
	reg := &config.Registry{Reservations: []config.Reservation{{Name: "gcp-h100", Slug: "gh1", Cloud: config.GCP}}}
	r, err := New(Options{Registry: reg, Hooks: c, Clouds: []config.Cloud{config.AWS, config.GCP}, Now: time.Now}).Inspect(t.Context())
	if err != nil || r.Count(Blocked) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
