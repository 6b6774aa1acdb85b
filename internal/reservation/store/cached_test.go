package store_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// api is an API server with one reservation, of which a test sets the version.
type api struct {
	t *testing.T

	mu      sync.Mutex
	version int
	holder  string
	reads   int // of the one reservation
	away    bool
	watches int
	cut     context.CancelFunc // ends the watch there is
}

func (a *api) set(version int, holder string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.version, a.holder = version, holder
}

func (a *api) object() *store.Reservation {
	r := &store.Reservation{
		TypeMeta:   metav1.TypeMeta{APIVersion: store.GroupVersion.String(), Kind: "Reservation"},
		ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "1", ResourceVersion: strconv.Itoa(a.version)},
	}
	r.Status.State = lease.Leased
	r.Status.Lease = &lease.Lease{Ticket: lease.Ticket{ID: a.holder, Holder: a.holder}, Token: 1}
	return r
}

func (a *api) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	if a.away {
		a.mu.Unlock()
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch {
	case req.URL.Query().Get("watch") != "":
		ctx, cancel := context.WithCancel(req.Context())
		a.watches++
		a.cut = cancel
		a.mu.Unlock()
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-ctx.Done()
		return
	case strings.HasSuffix(req.URL.Path, "/two"):
		two := a.object()
		two.Name, two.UID = "two", "2"
		answer = two
	case strings.HasSuffix(req.URL.Path, "/one"):
		a.reads++
		answer = a.object()
	default:
		list := &store.ReservationList{TypeMeta: metav1.TypeMeta{APIVersion: store.GroupVersion.String(), Kind: "ReservationList"}, Items: []store.Reservation{*a.object()}}
		list.ResourceVersion = strconv.Itoa(a.version)
		answer = list
	}
	defer a.mu.Unlock()
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		a.t.Error(err)
	}
}

// copyOf is a copy of what an API server has, while the test lasts.
func copyOf(t *testing.T, a *api, names ...string) *store.Cached {
	t.Helper()
	server := httptest.NewServer(a)
	k, err := store.NewKube(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	c := store.NewCached(k, names...)
	ended, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); <-ended; server.CloseClientConnections(); server.Close() })
	return c
}

func holder(t *testing.T, c *store.Cached) string {
	t.Helper()
	r, err := c.Get(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	return r.Status.Lease.Holder
}

func (a *api) count() (reads, watches int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reads, a.watches
}

// After a restore, versions start again and may be reused with other content: a copy that sees a
// version go back is no longer trusted.
func TestCopyDoesNotOutliveARestore(t *testing.T) {
	for name, names := range map[string][]string{"of all": nil, "of one": {"one"}} {
		t.Run(name, func(t *testing.T) {
			a := &api{t: t, version: 1000, holder: "ada"}
			c := copyOf(t, a, names...)
			for range 3 {
				if got := holder(t, c); got != "ada" {
					t.Errorf("held by %s", got)
				}
			}
			if reads, _ := a.count(); reads != 0 {
				t.Fatalf("a copy that is new asks %d times: nothing is tested here", reads)
			}
			a.set(900, "bob")
			before := c.Interruptions()
			if r, err := c.GetUncached(t.Context(), "one"); err != nil || r.Status.Lease.Holder != "bob" {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := holder(t, c); got != "bob" {
				t.Errorf("the copy says %s of the time before the restore", got)
			}
			a.set(1000, "cyd") // the version that ada had
			if got := holder(t, c); got != "cyd" {
				t.Errorf("the copy says %s", got)
			}
			if list, err := c.List(t.Context()); err != nil || len(list) != 1 || list[0].Status.Lease.Holder != "cyd" {
				t.Errorf("listed: %+v, %v", list, err)
			}
			if c.Interruptions() == before {
				t.Error("the interruption is not reported")
			}
		})
	}
}

// A restore needs the API server to be away: the copy lists again then, and sees it.
func TestCopyListsAgainAfterTheAPIServerWasAway(t *testing.T) {
	a := &api{t: t, version: 1000, holder: "ada"}
	c := copyOf(t, a, "one")
	if got := holder(t, c); got != "ada" {
		t.Fatalf("held by %s", got)
	}
	polltest.Until(t, "the watch", func() bool { _, watches := a.count(); return watches == 1 })
	a.mu.Lock()
	a.away = true
	a.cut()
	a.mu.Unlock()
	polltest.Until(t, "the outage to be noticed", func() bool { return c.Interruptions() > 0 })
	a.mu.Lock()
	a.away, a.version, a.holder = false, 900, "bob"
	a.mu.Unlock()
	polltest.Until(t, "another watch", func() bool { _, watches := a.count(); return watches > 1 })
	a.set(1000, "cyd")
	if got := holder(t, c); got != "cyd" {
		t.Errorf("the copy says %s", got)
	}
}

// A copy without news asks after a while, and so notices an API server that is away.
func TestCopyWithoutNewsAsks(t *testing.T) {
	a := &api{t: t, version: 1000, holder: "ada"}
	c := copyOf(t, a)
	if got := holder(t, c); got != "ada" {
		t.Fatalf("held by %s", got)
	}
	a.set(1001, "bob")
	if got := holder(t, c); got != "ada" {
		t.Skip("it was asked too late")
	}
	polltest.Until(t, "the copy to ask", func() bool { return holder(t, c) == "bob" })
	a.mu.Lock()
	a.away = true
	a.mu.Unlock()
	polltest.Until(t, "the copy to notice that the API server is away", func() bool {
		_, err := c.List(t.Context())
		return err != nil
	})
}

// A list is not older than a few seconds, also if the watch is silent while the API server answers
// other requests.
func TestListIsNotOldWhenTheWatchIsSilent(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"no requests": false, "requests for others": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{t: t, version: 1000, holder: "ada"}
			c := copyOf(t, a)
			a.set(1001, "bob")
			end := time.Now().Add(20 * time.Second)
			polltest.Until(t, "the list to be new", func() bool {
				if busy {
					if _, err := c.GetUncached(t.Context(), "two"); err != nil {
						t.Error(err)
					}
				}
				list, err := c.List(t.Context())
				if err != nil || len(list) != 1 {
					t.Errorf("listed: %v, %v", list, err)
				}
				return list[0].Status.Lease.Holder == "bob" || time.Now().After(end)
			})
			if time.Now().After(end) {
				t.Error("it is still old")
			}
		})
	}
}

// counted counts requests.
type counted struct {
	next http.RoundTripper
	mu   sync.Mutex
	n    int
}

func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return c.next.RoundTrip(req)
}

// Every command of firstlight's own store installs it: where it is, that is one read.
func TestInstallOfWhatIsInstalled(t *testing.T) {
	c := &counted{}
	config := rest.CopyConfig(shared.Store(t).Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { c.next = next; return c })
	if err := store.Install(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if c.n != 1 {
		t.Errorf("%d requests", c.n)
	}
}

// Apply writes no managed fields: tracking costs a fifth of each write.
func TestAppliedIsNotTracked(t *testing.T) {
	k := shared.Kube(t)
	name := reservation(t, k).Name // created by another client, and tracked
	if r, err := k.Get(t.Context(), name); err != nil || len(r.ManagedFields) == 0 {
		t.Fatalf("nothing is tested here: %+v, %v", r.ManagedFields, err)
	}
	for _, want := range []string{"changed", "unchanged"} {
		all, err := k.Apply(t.Context(), map[string]store.Spec{name: {Cloud: "aws"}, "made-" + name: {}})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if a.Name == name && a.Result != want {
				t.Errorf("%+v, want %s", a, want)
			}
		}
	}
	for _, n := range []string{name, "made-" + name} {
		r, err := k.Get(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		save(t, k, grown(r, 3))
		if r, err = k.Get(t.Context(), n); err != nil || len(r.ManagedFields) > 0 {
			t.Errorf("%s: %d owners, %v", n, len(r.ManagedFields), err)
		}
	}
}
