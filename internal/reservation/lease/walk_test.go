package lease

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/suite"
)

func same(t *testing.T, a, b *Record) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// invariants hold after any step from was to r.
func invariants(t *testing.T, was, r *Record) {
	t.Helper()
	if (r.Lease != nil) != (r.CurrentState() == Leased || r.CurrentState() == Cleaning) {
		t.Fatalf("%s with lease %+v", r.CurrentState(), r.Lease)
	}
	if (r.DirtyInfo != nil) != (r.CurrentState() == Dirty || r.CurrentState() == Cleaning) {
		t.Fatalf("%s with dirt %+v", r.CurrentState(), r.DirtyInfo)
	}
	if r.Token < was.Token || r.Lease != nil && r.Lease.Token > r.Token {
		t.Fatalf("token %d after %d, lease %+v", r.Token, was.Token, r.Lease)
	}
	if r.Lease != nil && (was.Lease == nil || was.Lease.ID != r.Lease.ID) && r.Lease.Token <= was.Token {
		t.Fatalf("%s is granted %d after %d", r.Lease.ID, r.Lease.Token, was.Token)
	}
	if n := int64(len(r.Recent)); n > 0 && r.Recent[n-1].N != r.Events {
		t.Fatalf("%d transitions, the last is %+v", r.Events, r.Recent[n-1])
	}
	for i := 1; i < len(r.Recent); i++ {
		if r.Recent[i].N != r.Recent[i-1].N+1 {
			t.Fatalf("history %+v", r.Recent)
		}
	}
	if !slices.IsSortedFunc(r.Queue, compare) {
		t.Fatalf("queue %+v", r.Queue)
	}
	if r.CurrentState() == Free && len(r.Queue) > 0 {
		t.Fatalf("free, and %d wait", len(r.Queue))
	}
	for i, q := range r.Queue {
		if j, _ := r.Position(q.ID); j != i || r.Lease != nil && r.Lease.ID == q.ID {
			t.Fatalf("duplicate %s: %+v", q.ID, r)
		}
	}
	if wasHeld := was.CurrentState() == Leased && !was.Lease.Offered(); wasHeld && r.Lease != nil && r.Lease.Token != was.Lease.Token && r.CurrentState() == Leased && !r.Lease.Offered() {
		if last := r.Recent[len(r.Recent)-1].Type; last != CheckedOut && last != CheckedIn {
			t.Fatalf("from %+v to %+v by %s", was.Lease, r.Lease, last)
		}
	}
}

// Random steps in random order: the invariants hold, a refused step changes nothing, and no ticket
// disappears without a line of history.
func TestRandomWalk(t *testing.T) {
	for seed := range suite.Pick[uint64](3, 10, 10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			r := &Record{}
			now := noon
			here := map[string]bool{} // tickets that wait, are offered or hold
			var old []int64
			for i := range 1000 {
				now = now.Add(time.Duration(rng.Int64N(int64(4*time.Hour))) - 2*time.Hour)
				was := r.DeepCopy()
				before := r.Events
				err := randomStep(r, rng, i, old, now)
				invariants(t, was, r)
				if r.Token != was.Token {
					old = append(old, r.Token)
				}
				news := r.Recent[len(r.Recent)-int(r.Events-before):]
				if err != nil && !same(t, was, r) {
					t.Fatalf("refused with %v, and changed to %+v", err, r)
				}
				for _, n := range news {
					switch n.Type {
					case Queued:
						here[n.Actor] = true
					case Released, Expired, Evicted, Cancelled, WaitTimedOut:
						delete(here, n.Actor)
					case Restored: // only who held it is gone
						if was.Lease.Offered() {
							continue
						}
						delete(here, n.Actor)
					default: // no ticket disappears
					}
				}
				for who := range here {
					_, waits := r.Position(who)
					if !waits && (r.Lease == nil || r.Lease.ID != who) {
						t.Fatalf("%s is gone; last came %+v", who, news)
					}
				}
				if n := len(r.Recent); n > 40 {
					r.Recent = r.Recent[n-20:]
				}
			}
		})
	}
}

// randomStep makes a step with a token that is right, old, or none of all.
func randomStep(r *Record, rng *rand.Rand, i int, old []int64, now time.Time) error {
	token := r.Token
	switch n := rng.IntN(20); {
	case n < 5 && len(old) > 0:
		token = old[rng.IntN(len(old))]
	case n == 5:
		token += rng.Int64N(1000)
	}
	id := fmt.Sprint("t", max(0, i-rng.IntN(12)))
	steps := []func() error{
		func() error {
			tk := Ticket{ID: fmt.Sprint("t", i), Holder: fmt.Sprint("t", i), Priority: rng.IntN(3), QueuedAt: metav1.NewMicroTime(now), RenewInterval: Duration(time.Minute)}
			if rng.IntN(3) == 0 {
				tk.Group = []string{"a", "b"}
			}
			r.Enqueue(tk, now)
			return nil
		},
		func() error {
			if r.Lease != nil {
				id = r.Lease.ID
			}
			_, err := r.Claim(id, now)
			return err
		},
		func() error { _, err := r.Renew(token, now); return err },
		func() error { return r.Release(token, rng.IntN(2) == 0, "done", now) },
		func() error { return r.Return(token, now) },
		func() error { return r.Expire(token, "silent", now) },
		func() error { return r.Evict(token, "cyd", "wanted", now) },
		func() error { return r.Cancel(id, "bored", now) },
		func() error { return r.TimeOutTicket(id, now) },
		func() error { return r.Heartbeat(id) },
		func() error { _, err := r.Clean(Ticket{ID: fmt.Sprint("c", i), Holder: "janitor"}, now); return err },
		func() error { return r.FinishClean(token, "clean", now) },
		func() error { return r.FailClean(token, fmt.Sprint("broken ", i), now) },
		func() error { r.QuarantineFree("cyd", "in use", now); return nil },
		func() error { return r.ConfirmRestore(token, fmt.Sprint("restored ", i), now) },
	}
	return steps[rng.IntN(len(steps))]()
}

// A change to a clone does not change the original.
func TestCloneIsDeep(t *testing.T) {
	l := &Lease{Ticket: ticket("ada"), Token: 7, ClaimedAt: timePtr(noon), ExpiresAt: timePtr(noon), TermEndsAt: timePtr(noon), MaxEndsAt: timePtr(noon), Notice: &Notice{By: "cyd"}}
	l.Group = []string{"a", "b"}
	waiting := ticket("bob")
	waiting.Group = []string{"a", "b"}
	r := &Record{
		State: Leased, Token: 7, Lease: l, DirtyInfo: &DirtyInfo{Reason: "x"}, Queue: []Ticket{waiting},
		Events: 1, Recent: []Event{{N: 1, Type: Claimed}},
	}
	was, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c := r.DeepCopy()
	if !same(t, r, c) {
		t.Fatalf("%+v is cloned as %+v", r, c)
	}
	scramble(reflect.ValueOf(c).Elem())
	if same(t, r, c) {
		t.Fatal("nothing was changed")
	}
	now, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if string(now) != string(was) {
		t.Errorf("it was %s and is %s", was, now)
	}
}

// scramble changes all that a value reaches, in place.
func scramble(v reflect.Value) {
	if m, ok := v.Addr().Interface().(*metav1.MicroTime); ok {
		m.Time = m.Add(time.Hour)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			scramble(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.String:
		v.SetString(v.String() + "!")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		panic("a field of kind " + v.Kind().String())
	}
}
