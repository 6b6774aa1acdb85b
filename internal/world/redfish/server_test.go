package redfish

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stmcginnis/gofish"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (*world.World, *Server, gofish.ClientConfig) {
	t.Helper()
	w, err := world.New(world.DefaultSpec(4), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(context.WithoutCancel(t.Context()), w, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate in the CA file")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Stop()
	})
	password, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		t.Fatal(err)
	}
	return w, s, gofish.ClientConfig{
		Endpoint: s.URL, Username: s.User, Password: strings.TrimSpace(string(password)), HTTPClient: &http.Client{Transport: transport},
	}
}

func TestGofishReadsTheRacks(t *testing.T) {
	t.Parallel()
	for name, basic := range map[string]bool{"session": false, "basic": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, config := start(t)
			config.BasicAuth = basic
			c, err := gofish.ConnectContext(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Logout()
			if _, err := w.AddFault(world.Fault{Kind: "pdu-off", Target: "pdu-r1-b"}); err != nil {
				t.Fatal(err)
			}
			chassis, err := c.Service.Chassis()
			if err != nil || len(chassis) != 6 {
				t.Fatalf("%d chassis, %v", len(chassis), err)
			}
			power, err := chassis[0].Power()
			if err != nil || len(power.PowerControl) != 1 || power.PowerControl[0].PowerConsumedWatts < 400 {
				t.Errorf("power of %s: %+v, %v", chassis[0].ID, power, err)
			}
			thermal, err := chassis[0].Thermal()
			if err != nil || len(thermal.Temperatures) != 2 {
				t.Errorf("thermal: %+v, %v", thermal, err)
			}
			equipment, err := c.Service.PowerEquipment()
			if err != nil {
				t.Fatal(err)
			}
			racks, err := equipment.RackPDUs()
			if err != nil || len(racks) != 2 {
				t.Fatalf("%d PDUs, %v", len(racks), err)
			}
			states := map[string]string{}
			for _, p := range racks {
				states[p.ID] = string(p.Status.State)
				if m, err := p.Metrics(); err != nil || (m.PowerWatts.Reading > 0) != (p.ID == "pdu-r1-a") {
					t.Errorf("%s: metrics %+v, %v", p.ID, m, err)
				}
				if o, err := p.Outlets(); err != nil || len(o) != 1 {
					t.Errorf("%s: %d outlets, %v", p.ID, len(o), err)
				}
				if mains, err := p.Mains(); err != nil || len(mains) != 1 {
					t.Errorf("%s: %d mains, %v", p.ID, len(mains), err)
				}
			}
			if states["pdu-r1-a"] != "Enabled" || states["pdu-r1-b"] != "UnavailableOffline" {
				t.Errorf("PDU states %v", states)
			}
		})
	}
}

// Responses for a node on standby and a PDU without mains.
func TestGofishReadsFaults(t *testing.T) {
	t.Parallel()
	w, _, config := start(t)
	for _, kind := range []string{"chassis-on-standby", "pdu-without-mains"} {
		if _, err := w.AddFault(world.Fault{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	config.BasicAuth = true
	c, err := gofish.ConnectContext(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Logout()
	all, err := c.Service.Chassis()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		standby := one.ID == "gpu-02"
		power, err := one.Power()
		if err != nil {
			t.Fatal(err)
		}
		watts := power.PowerControl[0].PowerConsumedWatts
		if (one.PowerState == "On") == standby || watts <= 0 || standby && watts > 200 {
			t.Errorf("chassis %s is %s and draws %v W", one.ID, one.PowerState, watts)
		}
	}
	equipment, err := c.Service.PowerEquipment()
	if err != nil {
		t.Fatal(err)
	}
	units, err := equipment.RackPDUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range units {
		if mains, err := p.Mains(); err != nil || (len(mains) == 0) != (p.ID == "pdu-r1-b") || p.Status.State != "Enabled" {
			t.Errorf("%s is %s, %d mains, %v", p.ID, p.Status.State, len(mains), err)
		}
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	_, s, config := start(t)
	bad := config
	bad.Password = "guess"
	if _, err := gofish.ConnectContext(t.Context(), bad); err == nil {
		t.Error("a wrong password got in")
	}
	for _, path := range []string{"/redfish/v1/Chassis", "/redfish/v1/PowerEquipment/RackPDUs/pdu-r1-a"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := config.HTTPClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("GET %s without a login: %d", path, resp.StatusCode)
		}
	}
}
