package broker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func TestRememberRecallForget(t *testing.T) {
	d := TokenCache(filepath.Join(t.TempDir(), "held"))
	if _, err := d.Get("aws-h100"); !errors.Is(err, ErrNoToken) {
		t.Errorf("nothing was remembered: %v", err)
	}
	g := Grant{Reservation: "aws-h100", Lease: lease.Lease{Ticket: lease.Ticket{ID: "t", Holder: "ada"}, Token: 1795300000123}}
	if err := d.Put(g); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Get("aws-h100"); err != nil || got.Token != g.Token || got.Holder != "ada" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := d.Delete("aws-h100", g.Token-1); err != nil {
		t.Error(err)
	}
	if _, err := d.Get("aws-h100"); err != nil {
		t.Errorf("a newer lease was forgotten with an older token: %v", err)
	}
	if err := d.Delete("aws-h100", g.Token); err != nil {
		t.Error(err)
	}
	if _, err := d.Get("aws-h100"); !errors.Is(err, ErrNoToken) {
		t.Errorf("it was not forgotten: %v", err)
	}
	if err := os.WriteFile(d.path("torn"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get("torn"); err == nil || errors.Is(err, ErrNoToken) {
		t.Errorf("an unreadable file is reported as missing: %v", err)
	}
}

// The token of one store was shown to another that had a reservation of the same name.
func TestTokensAreOfTheirStore(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(host, ca, caFile string) *rest.Config {
		return &rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(ca), CAFile: caFile}}
	}
	one, err := TokenCacheOf(home, with("https://10.0.0.1", "one", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Put(Grant{Reservation: "aws-h100", Lease: lease.Lease{Token: 7}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config *rest.Config
		knows  bool
	}{
		"the same":                   {with("https://10.0.0.1", "one", ""), true},
		"the same, its CA in a file": {with("https://10.0.0.1", "", file), true},
		"as another user":            {&rest.Config{Host: "https://10.0.0.1", BearerToken: "x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("one")}}, true},
		"a new store at its address": {with("https://10.0.0.1", "two", ""), false},
		"another of the same CA":     {with("https://10.0.0.1/k8s/clusters/c-2", "one", ""), false},
		"the store of this machine":  {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := TokenCacheOf(home, c.config)
			if err != nil {
				t.Fatal(err)
			}
			if g, err := d.Get("aws-h100"); c.knows && (err != nil || g.Token != 7) || !c.knows && !errors.Is(err, ErrNoToken) {
				t.Errorf("token %d, %v", g.Token, err)
			}
		})
	}
	if _, err := TokenCacheOf(home, with("https://10.0.0.1", "", "/nonexistent/ca.crt")); err == nil {
		t.Error("an unreadable CA is ignored")
	}
}
