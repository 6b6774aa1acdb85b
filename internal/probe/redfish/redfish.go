package redfish

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/common"
	"github.com/stmcginnis/gofish/redfish"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/site"
)

// Reading is the data of one controller.
type Reading struct {
	Controller string    `json:"controller"`
	PDUs       []PDU     `json:"pdus"`
	Chassis    []Chassis `json:"chassis"`
}

// PDU is one rack power distribution unit.
type PDU struct {
	ID string `json:"id"`
	// State and Health are Redfish values: "Enabled", "OK". A unit with a critical part is Critical.
	State  string `json:"state"`
	Health string `json:"health"`
	// Mains are the power states of the incoming circuits ("On", "Off"; "" for a circuit that
	// reports none) and the states of open breakers ("breaker Tripped"); none if the controller
	// does not report circuits.
	Mains []string `json:"mains,omitempty"`
}

// Down reports whether the PDU reports that it is not enabled or not healthy, or that an
// incoming circuit is not on.
func (p PDU) Down() bool {
	return p.State != "" && p.State != "Enabled" || !slices.Contains([]string{"OK", "Warning", ""}, p.Health) ||
		slices.ContainsFunc(p.Mains, func(m string) bool { return m != "" && m != string(redfish.OnPowerState) })
}

// Energised reports whether the PDU is enabled and not unhealthy and reports that each incoming
// circuit is on.
func (p PDU) Energised() bool {
	return !p.Down() && p.State != "" && len(p.Mains) > 0 && !slices.Contains(p.Mains, "")
}

// Chassis is the power state and draw of one chassis.
type Chassis struct {
	ID string `json:"id"`
	// State is the power state ("On", "Off"): that of the chassis, or of a system of it that is not
	// on; empty if the controller reports neither.
	State string  `json:"state,omitempty"`
	Watts float64 `json:"watts"`
	// Unmetered tells that the controller shows no number of watts, such as null: Watts is then 0.
	Unmetered bool `json:"unmetered,omitempty"`
}

// On reports whether the chassis is switched on. The controller of a chassis that is off also
// draws power.
func (c Chassis) On() bool { return c.State == string(redfish.OnPowerState) && c.Watts > 0 }

// timeout is the timeout of one request.
const timeout = 30 * time.Second

// Read reads all PDUs of a controller and the chassis that the site lists.
func Read(ctx context.Context, r site.Redfish) (Reading, error) {
	return guard.Parse("controller "+r.Name, func() (Reading, error) { return read(ctx, r) })
}

func read(ctx context.Context, r site.Redfish) (Reading, error) {
	httpClient, err := transport(r)
	if err != nil {
		return Reading{}, fmt.Errorf("connect to controller %s: %w", r.Name, err)
	}
	defer httpClient.CloseIdleConnections()
	client, err := connect(ctx, r, httpClient)
	if err != nil {
		return Reading{}, fmt.Errorf("connect to controller %s: %w", r.Name, err)
	}
	defer client.Logout()
	out := Reading{Controller: r.Name}
	if len(r.PDUs) > 0 {
		if out.PDUs, err = pdus(client); err != nil {
			return Reading{}, fmt.Errorf("read the PDUs of controller %s: %w", r.Name, err)
		}
	}
	if len(r.Chassis) > 0 {
		if out.Chassis, err = chassis(client, r.Chassis); err != nil {
			return Reading{}, fmt.Errorf("read the chassis of controller %s: %w", r.Name, err)
		}
	}
	return out, nil
}

func connect(ctx context.Context, r site.Redfish, httpClient *http.Client) (*gofish.APIClient, error) {
	config := gofish.ClientConfig{
		Endpoint: strings.TrimSuffix(r.URL, "/"), Username: r.User, BasicAuth: true, ReuseConnections: true, HTTPClient: httpClient,
	}
	if r.PasswordFile != "" {
		password, err := os.ReadFile(r.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read the password file: %w", err)
		}
		config.Password = strings.TrimSpace(string(password))
	}
	return gofish.ConnectContext(ctx, config)
}

func transport(r site.Redfish) (*http.Client, error) {
	if err := origin.Check(r.URL, r.User != "" || r.PasswordFile != "", r.PlainHTTP); err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if r.CAFile != "" {
		pem, err := os.ReadFile(r.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the CA file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the CA file holds no certificate")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return origin.Client(r.URL, t, timeout)
}

func pdus(client *gofish.APIClient) ([]PDU, error) {
	equipment, err := client.Service.PowerEquipment()
	if err != nil {
		return nil, err
	}
	if equipment == nil || equipment.ODataID == "" { // gofish returns this for a missing link
		return nil, errors.New("the service has no PowerEquipment")
	}
	units, err := equipment.RackPDUs()
	if err != nil {
		return nil, err
	}
	// gofish fetches in parallel, in random order; evidence must be deterministic.
	slices.SortFunc(units, func(a, b *redfish.PowerDistribution) int { return strings.Compare(a.ID, b.ID) })
	out := make([]PDU, 0, len(units))
	for _, u := range units {
		p := PDU{ID: u.ID, State: string(u.Status.State), Health: string(healthOf(u.Status))}
		mains, err := u.Mains() // empty, without an error, if the controller has no such link
		if err != nil {
			return nil, fmt.Errorf("mains of PDU %s: %w", u.ID, err)
		}
		slices.SortFunc(mains, func(a, b *redfish.Circuit) int { return strings.Compare(a.ID, b.ID) })
		for _, m := range mains {
			p.Mains = append(p.Mains, string(m.PowerState))
			if m.BreakerState != "" && m.BreakerState != redfish.NormalBreakerState {
				p.Mains = append(p.Mains, "breaker "+string(m.BreakerState))
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// healthOf is the health of a unit: Critical also if a part of it is, such as a branch.
func healthOf(s common.Status) common.Health {
	if s.HealthRollup == common.CriticalHealth {
		return s.HealthRollup
	}
	return s.Health
}

func chassis(client *gofish.APIClient, wanted []string) ([]Chassis, error) {
	all, err := client.Service.Chassis()
	if err != nil {
		return nil, err
	}
	byID := map[string]*redfish.Chassis{}
	for _, c := range all {
		byID[c.ID] = c
	}
	var out []Chassis
	for _, id := range wanted {
		c, ok := byID[id]
		if !ok {
			continue // the gate reports it as missing
		}
		watts, metered, err := draws(client, c)
		if err != nil {
			return nil, fmt.Errorf("chassis %s: %w", id, err)
		}
		state, err := stateOf(c)
		if err != nil {
			return nil, fmt.Errorf("systems of chassis %s: %w", id, err)
		}
		out = append(out, Chassis{ID: id, State: string(state), Watts: watts, Unmetered: !metered})
	}
	return out, nil
}

// stateOf is the power state of a chassis. It is On if neither the chassis nor one of its systems reports
// another state: Redfish lets a chassis report none, and some report On while their host is off.
func stateOf(c *redfish.Chassis) (redfish.PowerState, error) {
	if c.PowerState != "" && c.PowerState != redfish.OnPowerState {
		return c.PowerState, nil
	}
	systems, err := c.ComputerSystems()
	if err != nil {
		return "", err
	}
	state := c.PowerState
	for _, s := range systems {
		if s.PowerState != "" && (state == "" || state == redfish.OnPowerState) {
			state = s.PowerState
		}
	}
	return state, nil
}

// draws is the power draw of a chassis in watts: from Power, or from the EnvironmentMetrics
// of newer controllers, which may have a Power without a draw. It is metered if it is a number.
func draws(client *gofish.APIClient, c *redfish.Chassis) (watts float64, metered bool, err error) {
	power, err := c.Power()
	if err != nil {
		return 0, false, err
	}
	found := power != nil && len(power.PowerControl) > 0
	if found {
		watts = consumed(power.PowerControl)
	}
	if watts > 0 {
		return watts, true, nil
	}
	metrics, err := c.EnvironmentMetrics()
	switch {
	case err != nil:
		return 0, false, err
	case metrics != nil:
		watts = decimal(metrics.PowerWatts.Reading)
	case !found:
		return 0, false, errors.New("power draw not found: neither PowerControl nor EnvironmentMetrics")
	}
	metered = watts != 0
	if !metered && found {
		metered, err = hasNumber(client, power.ODataID)
	}
	if err == nil && !metered && metrics != nil {
		metered, err = hasNumber(client, metrics.ODataID)
	}
	return watts, metered, err
}

// hasNumber reports whether a Power or an EnvironmentMetrics has a draw: gofish reads 0 from null.
func hasNumber(client *gofish.APIClient, uri string) (bool, error) {
	if uri == "" {
		return false, nil
	}
	response, err := client.Get(uri)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var resource struct {
		PowerControl []struct{ PowerConsumedWatts *float64 }
		PowerWatts   struct{ Reading *float64 }
	}
	if err := json.NewDecoder(response.Body).Decode(&resource); err != nil {
		return false, fmt.Errorf("decode %s: %w", uri, err)
	}
	for _, control := range resource.PowerControl {
		if control.PowerConsumedWatts != nil {
			return true, nil
		}
	}
	return resource.PowerWatts.Reading != nil, nil
}

// consumed is the sum of the controls of the chassis: of those that are marked as the chassis', or else of those
// without a mark. Others are of parts, such as the CPUs, and have a share of the same draw.
func consumed(controls []redfish.PowerControl) float64 {
	for _, of := range []common.PhysicalContext{common.ChassisPhysicalContext, ""} {
		whole := slices.DeleteFunc(slices.Clone(controls), func(c redfish.PowerControl) bool { return c.PhysicalContext != of })
		if len(whole) > 0 {
			controls = whole
			break
		}
	}
	watts := 0.0
	for _, c := range controls {
		watts += decimal(c.PowerConsumedWatts)
	}
	return watts
}

// decimal is the number that the controller printed: 198.4, not 198.39999389648438.
func decimal(reading float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(reading), 'g', -1, 32), 64)
	if err != nil {
		return float64(reading)
	}
	return v
}
