package broker

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// memory is a store of one reservation, of which each user has a view.
type memory struct {
	mu       sync.Mutex
	r        *store.Reservation
	version  int
	requests []string // of the view that was used last, and all before
	archived []lease.Event
}

// view is the store as a user sees it.
type view struct {
	*memory
	user      string
	operators []string
}

func (v *view) Get(context.Context, string) (*store.Reservation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests = append(v.requests, "get")
	return v.r.DeepCopy(), nil
}

func (v *view) GetUncached(ctx context.Context, name string) (*store.Reservation, error) {
	return v.Get(ctx, name)
}

func (v *view) List(ctx context.Context) ([]*store.Reservation, error) {
	r, err := v.Get(ctx, "")
	return []*store.Reservation{r}, err
}

func (v *view) History(context.Context, string, time.Time) ([]lease.Event, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Concat(v.archived, v.r.Status.Recent), nil
}

// archive moves all events but the last out of the status.
func (v *view) archive() {
	v.mu.Lock()
	defer v.mu.Unlock()
	recent := v.r.Status.Recent
	v.archived = append(v.archived, recent[:len(recent)-1]...)
	v.r.Status.Recent = slices.Clone(recent[len(recent)-1:])
}

func (v *view) Save(_ context.Context, r *store.Reservation) (*store.Reservation, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests = append(v.requests, "put")
	if r.ResourceVersion != v.r.ResourceVersion {
		return nil, store.ErrConflict
	}
	v.r = r.DeepCopy()
	v.version++
	v.r.ResourceVersion = strconv.Itoa(v.version)
	return v.r.DeepCopy(), nil
}

func (v *view) Follow(context.Context, []string, func()) (*store.Cached, func()) {
	return nil, func() {}
}
func (v *view) MayBeStale() bool                       { return false }
func (v *view) Interruptions() uint64                  { return 0 }
func (v *view) Reconnect()                             {}
func (v *view) Caller(context.Context) (string, error) { return v.user, nil }

func (v *view) Operates(context.Context, string) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests = append(v.requests, "operates")
	return slices.Contains(v.operators, v.user), nil
}

// ofAda is a store where ada holds the reservation, and the brokers of three users.
func ofAda(t *testing.T) (m *memory, ada, eve, ops *Broker, token int64) {
	t.Helper()
	m = &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}
	of := func(user string) *Broker {
		return New(Options{Store: &view{memory: m, user: user, operators: []string{"ops"}}})
	}
	ada, eve, ops = of("ada"), of("eve"), of("ops")
	got, err := ada.Acquire(t.Context(), Request{Reservations: []string{"one"}, Ticket: lease.Ticket{Holder: "ada@desk", Term: lease.Duration(time.Hour), MaxTerm: lease.Duration(3 * time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	return m, ada, eve, ops, got[0].Token
}

func (m *memory) last() lease.Event { return m.r.Status.Recent[len(m.r.Status.Recent)-1] }

// Regression: the token of a lease is public, and any user could extend and release it, with the
// holder's name in the history.
func TestOnlyTheHolderOrAnOperatorActs(t *testing.T) {
	for name, act := range map[string]func(ctx context.Context, b *Broker, token int64) error{
		"renew": func(ctx context.Context, b *Broker, token int64) error {
			_, err := b.Renew(ctx, "one", token)
			return err
		},
		"extend": func(ctx context.Context, b *Broker, token int64) error {
			_, err := b.Extend(ctx, "one", token, time.Hour, "")
			return err
		},
		"release": func(ctx context.Context, b *Broker, token int64) error { return b.Release(ctx, "one", token, "") },
		"evict":   func(ctx context.Context, b *Broker, token int64) error { return b.Evict(ctx, "one", token, "eve", "") },
	} {
		t.Run(name, func(t *testing.T) {
			m, _, eve, ops, token := ofAda(t)
			was := m.r.DeepCopy()
			var notHolder *lease.NotHolderError
			err := act(t.Context(), eve, token)
			if !errors.As(err, &notHolder) || notHolder.User != "ada" || notHolder.Caller != "eve" || !strings.Contains(err.Error(), "only the holder or an operator") || !IsLost(err) {
				t.Errorf("another user: %v", err)
			}
			if m.r.Status.Events != was.Status.Events || m.r.Status.Lease == nil || m.r.Status.Lease.Heartbeats != was.Status.Lease.Heartbeats {
				t.Errorf("it is %+v", m.r.Status)
			}
			if err := act(t.Context(), ops, token); err != nil {
				t.Errorf("an operator: %v", err)
			}
			if last := m.last(); name != "renew" && (last.User != "ops" || last.Actor != "ada@desk") {
				t.Errorf("the history says %+v", last)
			}
			m, ada, _, _, token := ofAda(t)
			if err := act(t.Context(), ada, token); err != nil {
				t.Errorf("the holder: %v", err)
			}
			if last := m.last(); last.User != "ada" {
				t.Errorf("the history says %+v", last)
			}
		})
	}
}

// slowRead is a view whose reads return after its user was requested.
type slowRead struct {
	*view
	requested chan struct{}
	once      sync.Once
}

func (s *slowRead) Caller(ctx context.Context) (string, error) {
	s.once.Do(func() { close(s.requested) })
	return s.view.Caller(ctx)
}

func (s *slowRead) Get(ctx context.Context, name string) (*store.Reservation, error) {
	select {
	case <-s.requested:
		return s.view.Get(ctx, name)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A command requests its user while it reads the reservation, not after it.
func TestTheUserIsRequestedDuringTheRead(t *testing.T) {
	m := &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "one"}}}
	b := New(Options{Store: &slowRead{view: &view{memory: m, user: "ada"}, requested: make(chan struct{})}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := b.Acquire(ctx, Request{Reservations: []string{"one"}, Ticket: lease.Ticket{Holder: "ada@desk"}})
	if err != nil || len(got) != 1 || got[0].User != "ada" {
		t.Errorf("acquired %+v: %v", got, err)
	}
}

// Tokens of another store of the same name, and mistyped ones, ended the lease.
func TestATokenOfAnotherStoreEndsNothing(t *testing.T) {
	m, ada, eve, ops, token := ofAda(t)
	was := m.r.Status.Events
	for _, b := range []*Broker{ada, eve, ops} {
		var stale *lease.StaleError
		if err := b.Release(t.Context(), "one", token+1, ""); !errors.As(err, &stale) || !stale.Unknown() || !strings.Contains(err.Error(), "confirm-restore") {
			t.Errorf("released: %v", err)
		}
	}
	if m.r.Status.Events != was || m.r.Status.CurrentState() != lease.Leased || m.r.Status.Token != token {
		t.Errorf("it is %+v", m.r.Status)
	}
	if err := eve.ConfirmRestore(t.Context(), "one", token+1, "monday"); !errors.Is(err, ErrNotOperator) {
		t.Errorf("confirmed by another user: %v", err)
	}
	if err := ops.ConfirmRestore(t.Context(), "one", token+1, "monday"); err != nil {
		t.Error(err)
	}
	if last := m.last(); m.r.Status.CurrentState() != lease.Dirty || last.Type != lease.Restored || last.User != "ops" || last.Actor != "ada@desk" {
		t.Errorf("it is %s by %+v", m.r.Status.CurrentState(), last)
	}
}

// The user costs no request: an acquire is a read and a write, and the release of the same command
// one write.
func TestWhoWritesCostsNoRequest(t *testing.T) {
	m, ada, _, _, token := ofAda(t)
	if err := ada.Release(t.Context(), "one", token, "done"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.requests, " "); got != "get put put" {
		t.Errorf("acquired and released with %s", got)
	}
}
