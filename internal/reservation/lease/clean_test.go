package lease

import (
	"errors"
	"testing"
)

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
