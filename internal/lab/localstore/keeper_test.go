package localstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Regression: an expired certificate was reported as a TLS error; the certificates were valid for a year, and a store that
// stayed up for longer was refused.
func TestCertificatesThatExpired(t *testing.T) {
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dir := pki.Dir(t.TempDir() + "/pki")
	if err := dir.Write("reservations", "127.0.0.1", started); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		now  time.Time
		says string
	}{
		"at its start":                           {started, ""},
		"after a year":                           {started.AddDate(1, 0, 1), ""},
		"after its API server's own certificate": {started.AddDate(3, 0, 1), ""},
		"after eleven years":                     {started.AddDate(11, 0, 0), "firstlight reservation store down"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkCertificate(dir.Cert(pki.APIServer), c.now)
			if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "expired at 2036-02-2")) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	for name, data := range map[string]string{"not PEM": "x", "not a certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		file := filepath.Join(t.TempDir(), "cert")
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkCertificate(file, started); err == nil {
			t.Errorf("%s is in force", name)
		}
	}
}

// Regression: the history of the local store named its administrator.
func TestTheStoreKnowsItsUser(t *testing.T) {
	config := &rest.Config{Host: "https://127.0.0.1:1"}
	got := AsUser(config)
	if got.Impersonate.UserName == "" || got.Impersonate.Groups[0] != "system:masters" || config.Impersonate.UserName != "" {
		t.Errorf("%+v", got.Impersonate)
	}
}
