package reservation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/poll"
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

// failing is a store that answers no write while it fails.
type failing struct {
	*memory
	fails atomic.Bool
}

func (f *failing) Save(ctx context.Context, r *store.Reservation) (*store.Reservation, error) {
	if f.fails.Load() {
		return nil, syscall.ECONNREFUSED
	}
	return f.memory.Save(ctx, r)
}

// A command that is stopped because its lease could not be renewed may leave processes. Its reservation waits for an
// operator, unless the lease has ended meanwhile.
func TestReservationOfAStoppedCommandThatMayStillRunIsQuarantined(t *testing.T) {
	for name, given := range map[string]bool{"the lease lasts": false, "another holder has it": true} {
		t.Run(name, func(t *testing.T) {
			f := &failing{memory: &memory{r: &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "box"}, Spec: store.Spec{NeedsNoCleaning: true}}}}
			r := &reservations{Broker: broker.New(broker.Options{Store: f})}
			grants, err := r.Acquire(t.Context(), broker.Request{Reservations: []string{"box"}, Ticket: lease.Ticket{Holder: "ada", RenewInterval: lease.Duration(2 * time.Second)}})
			if err != nil {
				t.Fatal(err)
			}
			f.fails.Store(true)
			answers := f.waitFor(t, filepath.Join(t.TempDir(), "stopped"), given)
			err = runUnderLease(t.Context(), cmdutil.Streams{Out: t.Output(), Err: t.Output()}, r, grants,
				[]string{"sh", "-c", "trap 'touch " + answers + "; kill -9 $PPID' TERM; while :; do sleep 0.05; done"})
			if !errors.Is(err, broker.ErrRenewFailed) || cmdutil.ExitCode(err) != cmdutil.ExitUnobserved || !strings.Contains(err.Error(), "may still run") {
				t.Errorf("exit %d: %v", cmdutil.ExitCode(err), err)
			}
			s := f.r.Status
			if given {
				if s.CurrentState() != lease.Leased || strings.Contains(err.Error(), "reservation clean") || strings.Contains(err.Error(), "stale") {
					t.Errorf("it is %s: %v", s.CurrentState(), err)
				}
				return
			}
			if s.CurrentState() != lease.Dirty || !s.DirtyInfo.ManualOnly || !strings.Contains(err.Error(), "firstlight reservation clean") {
				t.Errorf("it is %s, %+v: %v", s.CurrentState(), s.DirtyInfo, err)
			}
		})
	}
}

// waitFor makes the store answer when a file exists, or gives the lease to bob then.
func (f *failing) waitFor(t *testing.T, file string, given bool) string {
	t.Helper()
	go func() {
		for poll.Sleep(t.Context(), 10*time.Millisecond) == nil {
			if _, err := os.Stat(file); err == nil {
				break
			}
		}
		if given {
			f.mu.Lock()
			f.r.ResourceVersion += "1"
			now := time.Now()
			err := f.r.Status.Evict(f.r.Status.Lease.Token, "cyd", "overdue", now)
			if err == nil {
				f.r.Status.Record = lease.Record{Token: f.r.Status.Token, Events: f.r.Status.Events}
				f.r.Status.Enqueue(lease.Ticket{ID: "next", Holder: "bob"}, now)
				_, err = f.r.Status.Claim("next", now)
			}
			f.mu.Unlock()
			if err != nil {
				t.Error(err)
			}
		}
		f.fails.Store(false)
	}()
	return file
}

func (m *memory) History(context.Context, string, time.Time) ([]lease.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.r.Status.Recent, nil
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
