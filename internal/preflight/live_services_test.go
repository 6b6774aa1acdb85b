package preflight_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// closed is an address that refuses connections: no program of a user can bind the port.
const closed = "https://127.0.0.1:1"

// waitUnlabelled waits until Prometheus has this number of series without the label of their host.
func (p *planted) waitUnlabelled(t *testing.T, want int) {
	t.Helper()
	client, err := prom.Connect(p.lab.Site.Reach.Prometheus, p.lab.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	polltest.UntilNil(t, "the labels of the series to change", func() error {
		series, _, err := prom.Prometheus{Client: client}.Query(t.Context(), `DCGM_FI_DEV_GPU_UTIL{Hostname=""}`, time.Time{})
		if err == nil && len(series) != want {
			err = fmt.Errorf("%d series without the label, want %d", len(series), want)
		}
		return err
	})
}

var serviceObstacles = []obstacle{
	{name: "Prometheus down", plant: func(_ *testing.T, p *planted) { p.site.Reach.Prometheus.URL = closed }, what: "Prometheus", target: closed, seen: "connection refused"},
	{name: "Prometheus refuses", plant: func(_ *testing.T, p *planted) {
		p.site.Reach.Prometheus.CertFile, p.site.Reach.Prometheus.KeyFile = "", ""
	}, what: "Prometheus", target: "https://", seen: "request /-/ready"},
	{name: "host label missing", plant: func(t *testing.T, p *planted) {
		p.undo = append(p.undo, func() { p.waitUnlabelled(t, 0) }) // the last one: after the repair
		fault("host-label-dropped", "gpu-02")(t, p)
		p.waitUnlabelled(t, 8)
	}, what: "GPU series", target: "Hostname", seen: "without a Hostname label"},
	{name: "Alertmanager down", plant: func(_ *testing.T, p *planted) { p.site.Reach.Alertmanager.URL = closed }, what: "Alertmanager", target: closed, seen: "connection refused"},
	{name: "receiver missing", plant: func(_ *testing.T, p *planted) { p.site.Telemetry.Receiver = "nobody" }, what: "alert receiver", target: "nobody", seen: "is not in Alertmanager's configuration"},
	{name: "receiver without integration", plant: func(t *testing.T, p *planted) {
		fault("alert-route-missing", "")(t, p)
		p.site.Telemetry.Receiver = "none"
	}, what: "alert receiver", target: "none", seen: "has no integration"},
	{name: "receiver pages people", plant: func(_ *testing.T, p *planted) { p.site.Telemetry.Alert.PagesNobody = false }, what: "alert receiver", target: "on-call", seen: "--page"},
	{name: "receiver not routed", plant: func(t *testing.T, p *planted) {
		fault("oncall-silent", "")(t, p)
		p.site.Telemetry.Receiver = "watchdog"
	}, what: "alert receiver", target: "watchdog", seen: "it is routed to on-call, and only watchdog may be notified"},
	{name: "Redfish refuses", plant: func(t *testing.T, p *planted) {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte("wrong\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.site.Facility.Redfish[0].PasswordFile = path
	}, what: "Redfish", target: "row-a", seen: "401"},
	{name: "Redfish down", plant: func(_ *testing.T, p *planted) { p.site.Facility.Redfish[0].URL = closed }, what: "Redfish", target: "row-a", seen: "connection refused"},
	{name: "sign-off expired", plant: func(_ *testing.T, p *planted) { p.site.Facility.SignOff.Expires = "2020-01-01" }, what: "sign-off", target: "facility.signOff", seen: "expired"},
	{name: "playbook missing", plant: func(_ *testing.T, p *planted) {
		p.site.Prepare = []site.Prepare{{Gate: "node", Command: []string{"/no/such/program"}}}
	}, what: "file", target: "prepare[0].command", seen: "no such file"},
}
