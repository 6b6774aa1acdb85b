package held

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func TestRememberRecallForget(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "held"))
	if _, err := d.Recall("aws-h100"); !errors.Is(err, ErrNone) {
		t.Errorf("nothing was remembered: %v", err)
	}
	g := broker.Grant{Reservation: "aws-h100", Lease: lease.Lease{Ticket: lease.Ticket{ID: "t", Holder: "ada"}, Token: 1795300000123}}
	if err := d.Remember(g); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Recall("aws-h100"); err != nil || got.Token != g.Token || got.Holder != "ada" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := d.Forget("aws-h100", g.Token-1); err != nil {
		t.Error(err)
	}
	if _, err := d.Recall("aws-h100"); err != nil {
		t.Errorf("a newer lease was forgotten with an older token: %v", err)
	}
	if err := d.Forget("aws-h100", g.Token); err != nil {
		t.Error(err)
	}
	if _, err := d.Recall("aws-h100"); !errors.Is(err, ErrNone) {
		t.Errorf("it was not forgotten: %v", err)
	}
	if err := os.WriteFile(d.path("torn"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Recall("torn"); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("what can not be read is said to be nothing: %v", err)
	}
}
