package reservation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// When a lease is lost, processes of the command that may still run are reported; how the stopped
// command ended is not.
func TestLeftProcessesOfAStoppedCommandAreReported(t *testing.T) {
	t.Parallel()
	left := &proctree.LeftError{PIDs: []int{7}}
	if err := withoutExitCode(cmdutil.Unobserved(fmt.Errorf("train: %w", left))); !errors.Is(err, left) || err.Error() != "train: "+left.Error() {
		t.Errorf("got %v, want %v", err, left)
	}
	if err := withoutExitCode(&cmdutil.ExitError{Code: 143}); err != nil {
		t.Errorf("got %v for the exit code of a stopped command", err)
	}
}

// memory is a store of one reservation.
type memory struct {
	broker.Store
	mu sync.Mutex
	r  *store.Reservation
}

func (m *memory) GetUncached(context.Context, string) (*store.Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.r.DeepCopyObject().(*store.Reservation), nil
}

func (m *memory) Get(ctx context.Context, name string) (*store.Reservation, error) {
	return m.GetUncached(ctx, name)
}

func (m *memory) Save(_ context.Context, r *store.Reservation) (*store.Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.ResourceVersion != m.r.ResourceVersion {
		return nil, store.ErrConflict
	}
	m.r = r.DeepCopyObject().(*store.Reservation)
	m.r.ResourceVersion += "1"
	return m.r, nil
}

func (*memory) Caller(context.Context) (string, error) { return "ada", nil }
func (*memory) MayBeStale() bool                       { return false }
func (*memory) Interruptions() uint64                  { return 0 }
func (*memory) Reconnect()                             {}

// A command whose processes may still run does not hand its reservation to the next in the queue,
// also if the reservation needs no cleaning.
func TestReservationOfACommandThatMayStillRunIsQuarantined(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		state  lease.State
		code   int
	}{
		"it has ended":     {"exit 0", lease.Leased, cmdutil.ExitPassed}, // offered to bob
		"it may still run": {"kill -9 $PPID", lease.Dirty, cmdutil.ExitUnobserved},
	} {
		t.Run(name, func(t *testing.T) {
			m := &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "box"}, Spec: store.Spec{NeedsNoCleaning: true}}}
			r := &reservations{Broker: broker.New(broker.Options{Store: m})}
			grants, err := r.Acquire(t.Context(), broker.Request{Reservations: []string{"box"}, Ticket: lease.Ticket{Holder: "ada", RenewInterval: lease.Duration(time.Minute)}})
			if err != nil {
				t.Fatal(err)
			}
			m.r.ResourceVersion += "1" // bob waits
			m.r.Status.Enqueue(lease.Ticket{ID: "next", Holder: "bob"}, time.Now())
			err = runUnderLease(t.Context(), cmdutil.Streams{Out: t.Output(), Err: t.Output()}, r, grants, []string{"sh", "-c", c.script})
			s := m.r.Status
			if code := cmdutil.ExitCode(err); code != c.code || s.CurrentState() != c.state {
				t.Fatalf("exit %d, %v: the reservation is %s, %+v", code, err, s.CurrentState(), s.Lease)
			}
			if c.state != lease.Dirty {
				return
			}
			if !s.DirtyInfo.ManualOnly || !strings.Contains(s.DirtyInfo.Reason, "may still run") || !strings.Contains(err.Error(), "firstlight reservation clean") {
				t.Errorf("%+v, %v", s.DirtyInfo, err)
			}
		})
	}
}
