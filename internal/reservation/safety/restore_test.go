package safety

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
	"github.com/firstlight/firstlight/internal/suite"
)

// fixed is a clock that is so far ahead.
type fixed struct{ ahead time.Duration }

func (c fixed) Now() time.Time         { return time.Now().Add(c.ahead) }
func (c fixed) Elapsed() time.Duration { return time.Duration(monotonic()) }

// granting grants leases and knows all tokens that were ever granted.
type granting struct {
	t     *testing.T
	store *storetest.Store
	kube  *store.Kube
	given map[granted]bool
}

func (g *granting) start(dir string) {
	g.t.Helper()
	s, err := storetest.Start(dir)
	if err != nil {
		g.t.Fatal(err)
	}
	g.store = s
	if g.kube, err = store.NewKube(s.Config); err != nil {
		g.t.Fatal(err)
	}
}

func (g *granting) stop() {
	g.t.Helper()
	if err := g.store.Stop(); err != nil {
		g.t.Fatal(err)
	}
}

func (g *granting) broker(ahead time.Duration) *broker.Broker {
	return broker.New(broker.Options{Store: g.kube, Clock: fixed{ahead: ahead}})
}

// hold grants a lease.
func (g *granting) hold(name string, ahead time.Duration) int64 {
	g.t.Helper()
	got, err := g.broker(ahead).Acquire(g.t.Context(), broker.Request{
		Reservations: []string{name}, Ticket: lease.Ticket{Holder: "ada", RenewInterval: lease.Duration(time.Minute)},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.note(name, got[0].Token)
	return got[0].Token
}

func (g *granting) note(name string, token int64) {
	g.t.Helper()
	if g.given[granted{on: name, token: token}] {
		g.t.Errorf("token %d of %s is granted again", token, name)
	}
	g.given[granted{on: name, token: token}] = true
}

// round grants a lease, ends it and cleans up after it.
func (g *granting) round(name string, ahead time.Duration) {
	g.t.Helper()
	b, token := g.broker(ahead), g.hold(name, ahead)
	if err := b.Release(g.t.Context(), name, token, "done"); err != nil {
		g.t.Fatal(err)
	}
	g.tidy(name, ahead)
}

func (g *granting) tidy(name string, ahead time.Duration) {
	g.t.Helper()
	b := g.broker(ahead)
	c, err := b.Clean(g.t.Context(), name, lease.Ticket{Holder: "janitor", RenewInterval: lease.Duration(time.Minute)})
	if err != nil {
		g.t.Fatal(err)
	}
	g.note(name, c.Token)
	if err := b.FinishClean(g.t.Context(), name, c.Token, "clean"); err != nil {
		g.t.Fatal(err)
	}
}

// No token is granted twice: not after a crash, not after a restart, and not after a backup was
// restored that lacks the newest tokens, not even if the clock was wrong once and the tokens are
// ahead of it.
func TestNoTokenIsGrantedAgain(t *testing.T) {
	suite.Live(t)
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	g := &granting{t: t, given: map[granted]bool{}}
	names := []string{"right", "ahead", "held"}
	grantAll := func() {
		t.Helper()
		for range 3 {
			for _, name := range names {
				g.round(name, 0)
			}
		}
	}
	g.start(dir)
	for _, name := range names {
		if _, err := g.kube.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	g.round("ahead", 5*time.Hour) // by a broker whose clock was wrong
	grantAll()

	for _, component := range []string{"etcd", "kube-apiserver"} {
		if err := g.store.Kill(component); err != nil {
			t.Fatal(err)
		}
	}
	polltest.Until(t, "the store to be back", func() bool {
		_, err := g.kube.List(t.Context())
		return err == nil
	})
	grantAll()

	g.stop()
	if err := storetest.Backup(dir, copied); err != nil {
		t.Fatal(err)
	}
	g.start(dir)
	grantAll()
	forgotten := g.hold("held", 0)
	g.stop()

	if err := storetest.Restore(copied, dir); err != nil {
		t.Fatal(err)
	}
	g.start(dir)
	defer g.stop()
	r, err := g.kube.Get(t.Context(), "held")
	if err != nil || r.Status.CurrentState() != lease.Free || r.Status.Token >= forgotten {
		t.Fatalf("after the restore it is %+v, %v", r, err)
	}
	var stale *lease.StaleError
	if _, err := g.broker(0).Renew(t.Context(), "held", forgotten); !errors.As(err, &stale) {
		t.Errorf("a token that the store has forgotten: %v", err)
	}
	if r, err = g.kube.Get(t.Context(), "held"); err != nil || r.Status.CurrentState() != lease.Free || !stale.Unknown() {
		t.Errorf("a token alone has changed the reservation to %+v, %v", r.Status, err)
	}
	if err := g.broker(0).ConfirmRestore(t.Context(), "held", forgotten, "the copy was restored"); err != nil {
		t.Error(err)
	}
	r, err = g.kube.Get(t.Context(), "held")
	if err != nil || r.Status.CurrentState() != lease.Dirty || r.Status.Token != forgotten || r.Status.Recent[len(r.Status.Recent)-1].Type != lease.Restored {
		t.Errorf("its holder may be at it, and the reservation is %+v, %v", r.Status, err)
	}
	g.tidy("held", 0)
	grantAll()
}
