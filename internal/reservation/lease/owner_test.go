package lease

import "testing"

func owned(id string) Ticket {
	t := ticket(id)
	t.User = id + "@example.com"
	return t
}

// Regression: any user could renew, extend and release the lease of another, because its token is
// public.
func TestOnlyTheHolderOrAnOperatorChangesALease(t *testing.T) {
	later := noon.Add(1)
	holds := func(do func(r *Record)) *Record {
		r := &Record{}
		r.Enqueue(owned("ada"), noon)
		do(r)
		return r
	}
	claimed := func(r *Record) { _, _ = r.Claim("ada", noon) }
	open := func(r *Record) { claimed(r); _, _ = r.Publish(r.Token, noon, noon, "up", noon) }
	cleaning := func(r *Record) {
		claimed(r)
		_ = r.Release(r.Token, false, "", noon)
		_, _ = r.Clean(owned("ada"), noon)
	}
	for name, c := range map[string]struct {
		in    func(r *Record)
		do    func(r *Record) error
		any   bool // user may do it
		state State
	}{
		"renew":               {claimed, func(r *Record) error { _, err := r.Renew(r.Token, later); return err }, false, Leased},
		"release":             {claimed, func(r *Record) error { return r.Release(r.Token, false, "", later) }, false, Dirty},
		"release clean":       {claimed, func(r *Record) error { return r.Release(r.Token, true, "", later) }, false, Free},
		"evict":               {claimed, func(r *Record) error { return r.Evict(r.Token, "eve", "", later) }, false, Dirty},
		"impound":             {claimed, func(r *Record) error { return r.Quarantine(r.Token, "", later) }, false, Dirty},
		"notify":              {claimed, func(r *Record) error { return r.Notify(r.Token, Notice{By: "eve"}, later) }, false, Leased},
		"stand":               {claimed, func(r *Record) error { _, err := r.Publish(r.Token, later, later, "", later); return err }, false, Leased},
		"claim":               {func(*Record) {}, func(r *Record) error { _, err := r.Claim("ada", later); return err }, false, Leased},
		"leave":               {func(*Record) {}, func(r *Record) error { return r.Cancel("ada", "", later) }, false, Free},
		"clean on":            {cleaning, func(r *Record) error { _, err := r.RenewClean(r.Token, later); return err }, false, Cleaning},
		"finish":              {cleaning, func(r *Record) error { return r.FinishClean(r.Token, "", later) }, false, Free},
		"confirm a restore":   {claimed, func(r *Record) error { return r.ConfirmRestore(r.Token+1, "", later) }, false, Dirty},
		"wait":                {claimed, func(r *Record) error { r.Enqueue(owned("eve"), later); return nil }, true, Leased},
		"expire, silent":      {claimed, func(r *Record) error { return r.Expire(r.Token, "silent", later) }, true, Dirty},
		"expire, not claimed": {func(*Record) {}, func(r *Record) error { return r.Expire(r.Token, "silent", later) }, true, Free},
		"expire, cleaning":    {cleaning, func(r *Record) error { return r.Expire(r.Token, "silent", later) }, true, Dirty},
		"take what is open":   {open, func(r *Record) error { _, err := r.Checkout(owned("eve"), later); return err }, true, Leased},
		"hand back for ada": {open, func(r *Record) error {
			l, err := r.Checkout(owned("bob"), later)
			if err == nil {
				err = r.Checkin(l.Token, "", later)
			}
			return err
		}, false, Leased},
	} {
		t.Run(name, func(t *testing.T) {
			r := holds(c.in)
			next := r.DeepCopy()
			if err := c.do(next); err != nil || next.CurrentState() != c.state {
				t.Fatalf("%v, it is %s", err, next.CurrentState())
			}
			if !r.AllowedForAnyUser(next, "ada@example.com") {
				t.Error("the holder may not do it")
			}
			if got := r.AllowedForAnyUser(next, "eve@example.com"); got != c.any {
				t.Errorf("another user may do it: %t", got)
			}
		})
	}
}

// A record without users may be changed by any user.
func TestALeaseWithoutAUserIsAnybodys(t *testing.T) {
	r := held()
	next := r.DeepCopy()
	if err := next.Release(next.Token, false, "", noon); err != nil || !r.AllowedForAnyUser(next, "eve@example.com") {
		t.Errorf("it may not be released: %v", err)
	}
}

// The history named the holder of a lease that another had ended.
func TestSign(t *testing.T) {
	r := held()
	r.Sign(0, "ada@example.com")
	before := r.Events
	if err := r.Release(r.Token, false, "", noon); err != nil {
		t.Fatal(err)
	}
	r.Sign(before, "eve@example.com")
	for _, line := range r.Recent {
		want := "ada@example.com"
		if line.Type == Released {
			want = "eve@example.com"
		}
		if line.User != want || line.Actor != "ada" {
			t.Errorf("%s: by %q of %q, want by %q of ada", line.Type, line.User, line.Actor, want)
		}
	}
}

// Checkin restores the publisher and its user.
func TestHandedBackIsItsOpeners(t *testing.T) {
	r := &Record{}
	r.Enqueue(owned("rotation"), noon)
	if _, err := r.Claim("rotation", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Publish(r.Token, noon, noon, "up", noon); err != nil {
		t.Fatal(err)
	}
	if l, err := r.Checkout(owned("ada"), noon); err != nil || l.User != "ada@example.com" {
		t.Errorf("taken: %v, by user %q", err, l.User)
	}
	if err := r.Checkin(r.Token, "", noon); err != nil || r.Lease.User != "rotation@example.com" {
		t.Errorf("handed back: %v, to user %q", err, r.Lease.User)
	}
}
