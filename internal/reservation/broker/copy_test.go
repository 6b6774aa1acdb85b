package broker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// wire is what goes between a broker and the API server.
type wire struct {
	next http.RoundTripper
	cut  atomic.Bool // watches are answered, and bring nothing

	mu       sync.Mutex
	requests []string
}

// wired is a configuration of which a test sees the requests.
func wired(t *testing.T) (*rest.Config, *wire) {
	t.Helper()
	w := &wire{}
	config := rest.CopyConfig(shared.Store(t).Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { w.next = next; return w })
	return config, w
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	isWatch := req.URL.Query().Get("watch") != ""
	verb := req.Method
	if isWatch {
		verb = "WATCH"
	}
	w.mu.Lock()
	w.requests = append(w.requests, verb+" "+req.URL.Path)
	w.mu.Unlock()
	resp, err := w.next.RoundTrip(req)
	if err == nil && isWatch {
		resp.Body = &deaf{ReadCloser: resp.Body, cut: &w.cut}
	}
	return resp, err
}

// deaf keeps back what a watch brings.
type deaf struct {
	io.ReadCloser
	cut *atomic.Bool
}

func (d *deaf) Read(p []byte) (int, error) {
	for {
		n, err := d.ReadCloser.Read(p)
		if err != nil || !d.cut.Load() {
			return n, err
		}
	}
}

// since are the requests since it was asked last.
func (w *wire) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.requests
	w.requests = nil
	return out
}

func (w *wire) want(t *testing.T, doing string, verbs ...string) {
	t.Helper()
	var got []string
	for _, r := range w.since() {
		verb, _, _ := strings.Cut(r, " ")
		got = append(got, verb)
	}
	slices.Sort(got) // the user is requested (POST) during the read (GET)
	if strings.Join(got, " ") != strings.Join(verbs, " ") {
		t.Errorf("%s takes %v, want %v", doing, got, verbs)
	}
}

// Requests of a command: a read and a write for the first step, a write for the next, one read for a
// step that is refused or changes nothing. The user is requested once (POST), during the first read.
func TestRequestsOfACommand(t *testing.T) {
	name := reservations(t, shared.Kube(t), store.Spec{NeedsNoCleaning: true}, "requests")[0]
	config, w := wired(t)
	b, _, err := Open(config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
	if err != nil {
		t.Fatal(err)
	}
	w.want(t, "acquire", "GET", "POST", "PUT")
	if _, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); err == nil {
		t.Error("acquired twice")
	}
	w.want(t, "an acquire that is refused", "GET")
	if _, err := b.Renew(t.Context(), name, got[0].Token-1); err == nil {
		t.Error("an old token renews")
	}
	w.want(t, "a renewal that is refused", "GET")
	for _, verbs := range [][]string{{"PUT"}, {"GET"}} { // the second finds it released
		if err := b.Release(t.Context(), name, got[0].Token, "done"); err != nil {
			t.Fatal(err)
		}
		w.want(t, "release", verbs...)
	}
}

func TestRequestsOfAController(t *testing.T) {
	name := reservations(t, shared.Kube(t), store.Spec{NeedsNoCleaning: true}, "requests")[0]
	config, w := wired(t)
	ctx, cancel := context.WithCancel(t.Context())
	b, _, ended, err := OpenCached(ctx, config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); <-ended }()
	polltest.Until(t, "the watch", func() bool { return strings.Contains(strings.Join(w.since(), ","), "WATCH") })
	got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
	if err != nil {
		t.Fatal(err)
	}
	w.want(t, "acquire", "POST", "PUT")
	if err := b.ExpireOverdue(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.want(t, "to look at all")
	if err := b.Release(t.Context(), name, got[0].Token, "done"); err != nil {
		t.Fatal(err)
	}
	w.want(t, "release", "PUT")
}

// A stale copy costs a read: a reservation that looks free is not granted again.
func TestCopyThatIsBehindGrantsNothingTwice(t *testing.T) {
	k := shared.Kube(t)
	name := reservations(t, k, store.Spec{}, "behind")[0]
	config, w := wired(t)
	ctx, cancel := context.WithCancel(t.Context())
	b, c, ended, err := OpenCached(ctx, config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); <-ended }()
	w.cut.Store(true)
	first, err := New(Options{Store: k}).Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Get(t.Context(), name); err != nil || r.Status.CurrentState() != lease.Free {
		t.Skipf("the copy is not behind on this machine: %v, %v", r.Status.CurrentState(), err)
	}
	var busy *BusyError
	if got, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); !errors.As(err, &busy) || busy.Holder != "ada" {
		t.Errorf("granted again: %+v, %v", got, err)
	}
	if err := New(Options{Store: k}).Check(t.Context(), name, first[0].Token); err != nil {
		t.Errorf("the holder has lost it: %v", err)
	}
}

// careless is a store that writes over whatever version there is.
type careless struct{ Store }

func (c *careless) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	now, err := c.GetUncached(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	r.ResourceVersion = now.ResourceVersion
	return c.Store.Save(ctx, r)
}

// It is the version that keeps a copy that is behind from granting twice: where it is not
// compared, the same copy does, and the store's admission policy sees the history changed.
func TestCopyThatIsBehindNeedsTheVersion(t *testing.T) {
	k := shared.Kube(t)
	name := reservations(t, k, store.Spec{}, "careless")[0]
	free, err := k.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Store: k}).Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")}); err != nil {
		t.Fatal(err)
	}
	_ = poll.Sleep(t.Context(), 2*time.Millisecond) // tokens are milliseconds: another is later
	behind := &faulty{Store: k, get: func(string) (*store.Reservation, error) { return free, nil }}
	var busy *BusyError
	if _, err := New(Options{Store: behind}).Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); !errors.As(err, &busy) {
		t.Fatalf("granted twice: %v", err)
	}
	if _, err := New(Options{Store: &careless{behind}}).Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob")}); err == nil || !strings.Contains(err.Error(), "a line of history is never changed") {
		t.Errorf("a store without versions: %v", err)
	}
}

// A waiter gets its turn even if its watch is silent: it polls after a few seconds.
func TestWaiterWithoutNewsGetsItsTurn(t *testing.T) {
	k := shared.Kube(t)
	name := reservations(t, k, store.Spec{NeedsNoCleaning: true}, "cut")[0]
	other := New(Options{Store: k})
	first, err := other.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
	if err != nil {
		t.Fatal(err)
	}
	config, w := wired(t)
	b, _, err := Open(config, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, waits := make(chan error, 1), make(chan struct{})
	told := sync.OnceFunc(func() { close(waits) })
	go func() {
		_, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("bob"), Wait: true, Progress: func([]Place) { told() }})
		got <- err
	}()
	<-waits
	w.cut.Store(true)
	w.since()
	if err := other.Release(t.Context(), name, first[0].Token, "done"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("timeout")
	}
	if n := len(w.since()); n > 20 {
		t.Errorf("%d requests of one that waits a few seconds", n)
	}
}

// A waiter makes no request while nothing changes; a watch delivers a release.
func TestWaiterIsToldByAWatch(t *testing.T) {
	k := shared.Kube(t)
	name := reservations(t, k, store.Spec{NeedsNoCleaning: true}, "told")[0]
	other := New(Options{Store: k})
	first, err := other.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: who("ada")})
	if err != nil {
		t.Fatal(err)
	}
	config, w := wired(t)
	b, _, err := Open(config, Options{Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ticket := who("bob")
	ticket.WaitTimeout = lease.Duration(24 * time.Hour) // no heartbeat during the test
	got, waits := make(chan error, 1), make(chan struct{})
	told := sync.OnceFunc(func() { close(waits) })
	go func() {
		_, err := b.Acquire(t.Context(), Request{Reservations: []string{name}, Ticket: ticket, Wait: true, Progress: func([]Place) { told() }})
		got <- err
	}()
	<-waits
	polltest.Until(t, "the watch", func() bool { return strings.Contains(strings.Join(w.since(), ","), "WATCH") })
	_ = poll.Sleep(t.Context(), 300*time.Millisecond)
	w.want(t, "to wait")
	if err := other.Release(t.Context(), name, first[0].Token, "done"); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	w.want(t, "to be handed it", "PUT")
}

// A waiter sends about two heartbeats per timeout, the first within half of it.
func TestHeartbeatsOfAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, _, _, _ := ofAda(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = New(Options{Store: &view{memory: m, user: "bob"}}).Acquire(ctx, Request{Reservations: []string{"one"}, Ticket: who("bob"), Wait: true}) // cancelled below: only its heartbeats count
		}()
		defer func() { cancel(); <-ended }()
		heartbeats := func() int64 {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.r.Status.Queue[0].Heartbeats
		}
		synctest.Wait()
		last := time.Now()
		for i := range int64(20) {
			for begin := last; heartbeats() == i; synctest.Wait() {
				if time.Since(begin) > minute/2 {
					t.Fatalf("heartbeat %d is late", i+1)
				}
				_ = poll.Sleep(t.Context(), 100*time.Millisecond)
			}
			if gap := time.Since(last); i > 0 && gap < minute*2/5 {
				t.Errorf("heartbeat %d after %s", i+1, gap)
			}
			last = time.Now()
		}
	})
}

// interrupted is a copy that could not be kept new.
type interrupted struct {
	Store
	times atomic.Uint64
}

func (i *interrupted) Interruptions() uint64 { return i.times.Load() }

// While a copy is interrupted heartbeats may be missed: every ticket gets a full timeout
// afterwards.
func TestCopyThatWasInterruptedIsNotSilence(t *testing.T) {
	w := newWatch(t, store.Spec{})
	w.hold("ada")
	s := &interrupted{Store: w.kube}
	b := New(Options{Store: s, Clock: w.clock, Grace: 30 * time.Second})
	w.tick(b)
	w.clock.pass(minute - time.Second)
	s.times.Add(1)
	w.want(w.tick(b), lease.Leased, "ada")
	w.clock.pass(minute - time.Second)
	w.want(w.tick(b), lease.Leased, "ada")
	w.clock.pass(time.Second)
	w.want(w.tick(b), lease.Dirty, "")
}

// An extension is by what the API server has, not by a copy that is behind, and is made once.
func TestExtensionIsOfWhatThereIs(t *testing.T) {
	w := newWatch(t, store.Spec{})
	w.do(func(r *lease.Record) error {
		r.Enqueue(lease.Ticket{ID: "ada", Holder: "ada", Term: lease.Duration(time.Hour), MaxTerm: lease.Duration(9 * time.Hour)}, w.clock.Now())
		_, err := r.Claim("ada", w.clock.Now())
		return err
	})
	old, err := w.kube.Get(t.Context(), w.name)
	if err != nil {
		t.Fatal(err)
	}
	token, ends := old.Status.Lease.Token, old.Status.Lease.TermEndsAt.Time
	if _, err := w.Extend(t.Context(), w.name, token, time.Hour, "more"); err != nil {
		t.Fatal(err)
	}
	w.store.get = func(string) (*store.Reservation, error) { return old, nil }
	w.store.save = func(r *store.Reservation) error { // it was written, and that is not known
		w.store.save = nil
		if _, err := w.kube.Save(t.Context(), r); err != nil {
			t.Error(err)
		}
		return io.ErrUnexpectedEOF
	}
	l, err := w.Extend(t.Context(), w.name, token, time.Hour, "still more")
	if err != nil || !l.TermEndsAt.Time.Equal(ends.Add(2*time.Hour)) {
		t.Errorf("%v: it ends at %v, want %v", err, l.TermEndsAt, ends.Add(2*time.Hour))
	}
}
