package controller

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// memory is a store of one reservation.
type memory struct {
	mu sync.Mutex
	r  *store.Reservation
}

func newMemory(spec store.Spec) *memory {
	return &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "r1", ResourceVersion: "1"}, Spec: spec}}
}

func (m *memory) Get(ctx context.Context, name string) (*store.Reservation, error) {
	return m.GetUncached(ctx, name)
}

func (m *memory) GetUncached(ctx context.Context, _ string) (*store.Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.r.DeepCopyObject().(*store.Reservation), context.Cause(ctx)
}

func (m *memory) List(ctx context.Context) ([]*store.Reservation, error) {
	r, err := m.GetUncached(ctx, "")
	return []*store.Reservation{r}, err
}

func (m *memory) History(ctx context.Context, _ string, _ time.Time) ([]lease.Event, error) {
	r, err := m.GetUncached(ctx, "")
	return r.Status.Recent, err
}

func (m *memory) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.ResourceVersion != m.r.ResourceVersion {
		return nil, store.ErrConflict
	}
	n, _ := strconv.Atoi(r.ResourceVersion)
	m.r = r.DeepCopyObject().(*store.Reservation)
	m.r.ResourceVersion = strconv.Itoa(n + 1)
	return m.r.DeepCopyObject().(*store.Reservation), context.Cause(ctx)
}

func (m *memory) Caller(context.Context) (string, error)         { return "controller", nil }
func (m *memory) Operates(context.Context, string) (bool, error) { return true, nil }
func (m *memory) MayBeStale() bool                               { return false }
func (m *memory) Interruptions() uint64                          { return 0 }
func (m *memory) Reconnect()                                     {}

func (m *memory) Follow(context.Context, []string, func()) (*store.Cached, func()) {
	return nil, func() {}
}

// state is that of the reservation.
func (m *memory) state(t *testing.T) *store.Status {
	t.Helper()
	r, err := m.GetUncached(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	return &r.Status
}
