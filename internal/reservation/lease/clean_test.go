package lease

import (
	"errors"
	"testing"
)

// A reservation in which a deployment was found is quarantined and cleaned in one step.
func TestCleanLeftover(t *testing.T) {
	t.Parallel()
	free, quarantined := &Record{}, &Record{}
	for range 2 { // a repeated request is one
		if _, err := free.CleanLeftover(ticket("janitor"), "a deployment exists", noon); err != nil || free.State != Cleaning || free.Events != 2 {
			t.Errorf("free: %v, %+v", err, free)
		}
	}
	if err := free.FailClean(free.Token, "the API server is unavailable", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := free.CleanAutomatically(Ticket{ID: "2", Holder: "controller"}, noon); err != nil {
		t.Errorf("after one failed cleaning it needs an operator: %v", err)
	}
	quarantined.QuarantineFree("guard", "a deployment exists", noon)
	if _, err := quarantined.CleanLeftover(ticket("janitor"), "", noon); !errors.Is(err, ErrManualOnly) {
		t.Errorf("quarantined by another: %v", err)
	}
	if _, err := held().CleanLeftover(ticket("janitor"), "", noon); !errors.Is(err, ErrNotDirty) {
		t.Errorf("held: %v", err)
	}
}

// A record that another writer left without its cause can be cleaned, and the cleaning can fail.
func TestCleanWithoutDirtyInfo(t *testing.T) {
	t.Parallel()
	r := &Record{State: Dirty}
	if _, err := r.Clean(ticket("ada"), noon); err != nil {
		t.Fatal(err)
	}
	if err := r.FailClean(r.Token, "broken", noon); err != nil || r.DirtyInfo.Attempts != 1 {
		t.Errorf("%v, %+v", err, r.DirtyInfo)
	}
}

// Regression: the controller read a leased reservation, the guard quarantined it, and the
// controller then removed the deployment that only an operator may remove.
func TestCleanAutomatically(t *testing.T) {
	t.Parallel()
	quarantined := &Record{}
	quarantined.QuarantineFree("guard", "a deployment exists", noon)
	if _, err := quarantined.CleanAutomatically(Ticket{ID: "1", Holder: "controller"}, noon); !errors.Is(err, ErrManualOnly) {
		t.Errorf("got %v, want %v", err, ErrManualOnly)
	}
	if quarantined.CurrentState() != Dirty {
		t.Errorf("the reservation is %s", quarantined.CurrentState())
	}
	if _, err := quarantined.Clean(Ticket{ID: "2", Holder: "operator"}, noon); err != nil {
		t.Errorf("the operator: %v", err)
	}
	dirty := &Record{}
	dirty.QuarantineFree("guard", "a deployment exists", noon)
	dirty.DirtyInfo.ManualOnly = false
	if _, err := dirty.CleanAutomatically(Ticket{ID: "3", Holder: "controller"}, noon); err != nil {
		t.Errorf("not quarantined: %v", err)
	}
}

// A cleaning that finds a deployment which it must not remove leaves it to an operator.
func TestQuarantineClean(t *testing.T) {
	t.Parallel()
	r := held()
	left := r.Token
	if err := r.Release(left, false, "done", noon); err != nil {
		t.Fatal(err)
	}
	l, err := r.CleanAutomatically(ticket("controller"), noon)
	if err != nil {
		t.Fatal(err)
	}
	var stale *StaleError
	if err := r.QuarantineClean(left, "it is newer", noon); !errors.As(err, &stale) {
		t.Errorf("with the token of the holder: %v", err)
	}
	for range 2 { // a repeated request is one
		if err := r.QuarantineClean(l.Token, "it is newer", noon); err != nil {
			t.Fatal(err)
		}
	}
	if d := r.DirtyInfo; r.CurrentState() != Dirty || !d.ManualOnly || d.Reason != "it is newer" || d.Token != left || r.Recent[len(r.Recent)-1].Type != Quarantined {
		t.Errorf("%s %+v, %+v", r.CurrentState(), d, r.Recent)
	}
}
