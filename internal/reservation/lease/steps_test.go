package lease

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ticket(id string) Ticket {
	return Ticket{ID: id, Holder: id, RenewInterval: Duration(time.Minute), QueuedAt: metav1.NewMicroTime(noon)}
}

// in are reservations in each of their states; the lease, where there is one, is ada's.
var in = map[string]func() *Record{
	"free": func() *Record { return &Record{} },
	"offered": func() *Record {
		r := &Record{}
		r.Enqueue(ticket("ada"), noon)
		return r
	},
	"held": held,
	"held, bob waits": func() *Record {
		r := held()
		r.Enqueue(ticket("bob"), noon)
		return r
	},
	"dirty": func() *Record {
		r := held()
		r.markDirty(noon, Expired, "silent")
		return r
	},
	"cleaning": func() *Record {
		r := held()
		r.markDirty(noon, Expired, "silent")
		if _, err := r.Clean(ticket("ada"), noon); err != nil {
			panic(err)
		}
		return r
	},
}

func held() *Record {
	r := &Record{}
	r.Enqueue(ticket("ada"), noon)
	if _, err := r.Claim("ada", noon); err != nil {
		panic(err)
	}
	return r
}

// errStale stands for a StaleError in the table below.
var errStale = errors.New("stale")

func kindOf(err error) error {
	var stale *StaleError
	if errors.As(err, &stale) {
		return errStale
	}
	for _, known := range []error{ErrTicketNotFound, ErrNotOffered, ErrTermOver, ErrPastMaxTerm, ErrNotDirty, ErrNotAvailable} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

// Every step in every state, with the error of a refused step.
func TestSteps(t *testing.T) {
	later := noon.Add(time.Second)
	token := func(r *Record) int64 { return r.Token }
	all := func(err error) map[string]error {
		return map[string]error{"free": err, "offered": err, "held": err, "held, bob waits": err, "dirty": err, "cleaning": err}
	}
	but := func(err error, allowed ...string) map[string]error {
		m := all(err)
		for _, s := range allowed {
			m[s] = nil
		}
		return m
	}
	with := func(m map[string]error, s string, err error) map[string]error { m[s] = err; return m }
	for _, c := range []struct {
		step string
		do   func(r *Record) error
		want map[string]error
	}{
		{"claim what is mine", func(r *Record) error { _, err := r.Claim("ada", later); return err }, but(ErrTicketNotFound, "offered", "held", "held, bob waits")},
		{"claim what I wait for", func(r *Record) error { _, err := r.Claim("bob", later); return err }, with(all(ErrTicketNotFound), "held, bob waits", ErrNotOffered)},
		{"renew", func(r *Record) error { _, err := r.Renew(token(r), later); return err }, but(errStale, "held", "held, bob waits")},
		{"renew with an old token", func(r *Record) error { _, err := r.Renew(token(r)-1, later); return err }, all(errStale)},
		{"renew with no token", func(r *Record) error { _, err := r.Renew(0, later); return err }, all(errStale)},
		{"extend", func(r *Record) error { _, err := r.Extend(token(r), later, "", later); return err }, but(errStale, "held", "held, bob waits")},
		{"check", func(r *Record) error { return r.Check(token(r)) }, but(errStale, "held", "held, bob waits", "cleaning")},
		{"check an old token", func(r *Record) error { return r.Check(token(r) - 1) }, all(errStale)},
		{"notify", func(r *Record) error { return r.Notify(token(r), Notice{By: "cyd"}, later) }, but(errStale, "held", "held, bob waits")},
		{"release", func(r *Record) error { return r.Release(token(r), false, "done", later) }, but(errStale, "held", "held, bob waits")},
		{"release with an old token", func(r *Record) error { return r.Release(token(r)-1, true, "done", later) }, all(errStale)},
		{"return", func(r *Record) error { return r.Return(token(r), later) }, but(errStale, "held", "held, bob waits")},
		{"evict", func(r *Record) error { return r.Evict(token(r), "cyd", "wanted", later) }, but(errStale, "held", "held, bob waits")},
		{"expire", func(r *Record) error { return r.Expire(token(r), "silent", later) }, but(errStale, "offered", "held", "held, bob waits", "cleaning")},
		{"expire an old token", func(r *Record) error { return r.Expire(token(r)-1, "silent", later) }, all(errStale)},
		{"leave", func(r *Record) error { return r.Cancel("ada", "bored", later) }, but(ErrTicketNotFound, "offered")},
		{"leave the queue", func(r *Record) error { return r.Cancel("bob", "bored", later) }, but(ErrTicketNotFound, "held, bob waits")},
		{"be lost", func(r *Record) error { return r.TimeOutTicket("bob", later) }, but(ErrTicketNotFound, "held, bob waits")},
		{"be heard of, offered", func(r *Record) error { return r.Heartbeat("ada") }, but(ErrTicketNotFound, "offered")},
		{"be heard of, waiting", func(r *Record) error { return r.Heartbeat("bob") }, but(ErrTicketNotFound, "held, bob waits")},
		{"clean", func(r *Record) error { _, err := r.Clean(ticket("cyd"), later); return err }, but(ErrNotDirty, "dirty")},
		{"clean on", func(r *Record) error { _, err := r.RenewClean(token(r), later); return err }, but(errStale, "cleaning")},
		{"clean on with an old token", func(r *Record) error { _, err := r.RenewClean(token(r)-1, later); return err }, all(errStale)},
		{"finish", func(r *Record) error { return r.FinishClean(token(r), "clean", later) }, but(errStale, "cleaning")},
		{"finish with the holder's token", func(r *Record) error { return r.FinishClean(token(r)-1, "clean", later) }, all(errStale)},
		{"fail", func(r *Record) error { return r.FailClean(token(r), "broken", later) }, but(errStale, "cleaning")},
		{"stand", func(r *Record) error { _, err := r.Publish(token(r), later, later, "up", later); return err }, but(errStale, "held", "held, bob waits")},
		{"take", func(r *Record) error { _, err := r.Checkout(ticket("cyd"), later); return err }, all(ErrNotAvailable)},
		{"hand back", func(r *Record) error { return r.Checkin(token(r), "", later) }, with(with(all(errStale), "held", ErrNotAvailable), "held, bob waits", ErrNotAvailable)},
	} {
		for state, make := range in {
			t.Run(c.step+", "+state, func(t *testing.T) {
				r := make()
				was := r.DeepCopy()
				want, told := c.want[state]
				if !told {
					t.Fatalf("the table does not say")
				}
				err := c.do(r)
				if !errors.Is(kindOf(err), want) {
					t.Errorf("%v, want %v", err, want)
				}
				if err != nil && !same(t, r, was) {
					t.Errorf("refused with %v, and changed from %+v to %+v", err, was, r)
				}
				invariants(t, was, r)
			})
		}
	}
}

// A request that is sent twice does what it does once.
func TestTwiceIsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		from string
		do   func(r *Record, token int64) error
	}{
		"queue":   {"held", func(r *Record, _ int64) error { r.Enqueue(ticket("bob"), noon); return nil }},
		"claim":   {"offered", func(r *Record, _ int64) error { _, err := r.Claim("ada", noon); return err }},
		"release": {"held", func(r *Record, token int64) error { return r.Release(token, false, "done", noon) }},
		"return":  {"held, bob waits", func(r *Record, token int64) error { return r.Return(token, noon) }},
		"evict":   {"held", func(r *Record, token int64) error { return r.Evict(token, "cyd", "wanted", noon) }},
		"clean":   {"dirty", func(r *Record, _ int64) error { _, err := r.Clean(ticket("cyd"), noon); return err }},
		"finish":  {"cleaning", func(r *Record, token int64) error { return r.FinishClean(token, "clean", noon) }},
		"fail":    {"cleaning", func(r *Record, token int64) error { return r.FailClean(token, "broken", noon) }},
		"block":   {"free", func(r *Record, _ int64) error { r.QuarantineFree("cyd", "in use", noon); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			r := in[c.from]()
			token := r.Token
			if err := c.do(r, token); err != nil {
				t.Fatal(err)
			}
			once := r.DeepCopy()
			if err := c.do(r, token); err != nil {
				t.Errorf("the second time: %v", err)
			}
			if !same(t, r, once) {
				t.Errorf("twice %+v, once %+v", r, once)
			}
		})
	}
}

// A cleaner that exceeded its interval gets an error and cannot finish.
func TestCleanerThatWasSilent(t *testing.T) {
	r := in["cleaning"]()
	token := r.Token
	if err := r.Expire(token, "silent", noon); err != nil || r.State != Dirty {
		t.Fatalf("%s, %v", r.State, err)
	}
	if err := r.FailClean(token, "broken", noon); !errors.Is(kindOf(err), errStale) {
		t.Errorf("fail: %v", err)
	}
	if err := r.FinishClean(token, "clean", noon); !errors.Is(kindOf(err), errStale) {
		t.Errorf("finish: %v", err)
	}
}

func TestOverAndLimit(t *testing.T) {
	r := &Record{}
	tk := ticket("ada")
	tk.Term, tk.MaxTerm = Duration(time.Hour), Duration(2*time.Hour)
	r.Enqueue(tk, noon)
	l, err := r.Claim("ada", noon)
	if err != nil || !l.TermEndsAt.Equal(timePtr(noon.Add(time.Hour))) || !l.MaxEndsAt.Equal(timePtr(noon.Add(2*time.Hour))) || !l.ExpiresAt.Equal(timePtr(noon.Add(time.Minute))) {
		t.Fatalf("%+v, %v", l, err)
	}
	if _, err := r.Extend(l.Token, noon.Add(3*time.Hour), "", noon); !errors.Is(kindOf(err), ErrPastMaxTerm) {
		t.Errorf("past its limit: %v", err)
	}
	if _, err := r.Extend(l.Token, noon.Add(time.Minute), "", noon); !errors.Is(kindOf(err), ErrPastMaxTerm) {
		t.Errorf("to end earlier: %v", err)
	}
	if _, err := r.Renew(l.Token, noon.Add(time.Hour)); !errors.Is(kindOf(err), ErrTermOver) {
		t.Errorf("after its end: %v", err)
	}
	if l, err := r.Renew(l.Token, noon.Add(time.Hour-time.Second)); err != nil || !l.ExpiresAt.Equal(l.TermEndsAt) {
		t.Errorf("a renewal passes the end: %v, %v", l.ExpiresAt, err)
	}
}

// An extension is known after its event has left the status, and after another holder has checked the lease out.
func TestIsExtended(t *testing.T) {
	t.Parallel()
	r := held()
	if _, err := r.Publish(r.Token, noon.Add(time.Hour), noon.Add(9*time.Hour), "ready", noon); err != nil {
		t.Fatal(err)
	}
	if r.IsExtended() {
		t.Error("the regular term is extended")
	}
	if _, err := r.Extend(r.Token, noon.Add(2*time.Hour), "more", noon); err != nil {
		t.Fatal(err)
	}
	old := r.DeepCopy()
	old.Lease.Extended = false // of an earlier version
	r.Recent = nil
	if _, err := r.Checkout(ticket("bob"), noon); err != nil {
		t.Fatal(err)
	}
	if !r.IsExtended() || !old.IsExtended() {
		t.Errorf("%t, of an earlier version %t", r.IsExtended(), old.IsExtended())
	}
}
