package redfish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/common"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/site"
)

// The values of Redfish that are compared.
const (
	on       = "On"
	critical = "Critical"
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
	// Mains are the power states of the incoming circuits ("On", "Off", "no voltage"; "" for a circuit
	// whose state is unknown) and the states of open breakers ("breaker Tripped"); none if the
	// controller does not report circuits.
	Mains []string `json:"mains,omitempty"`
	// Unread is why the PDU, or its mains, could not be read.
	Unread string `json:"unread,omitempty"`
}

// Down reports whether the PDU reports that it is not enabled or not healthy, or that an
// incoming circuit is not on.
func (p PDU) Down() bool {
	return p.State != "" && p.State != "Enabled" || !slices.Contains([]string{"OK", "Warning", ""}, p.Health) ||
		slices.ContainsFunc(p.Mains, func(m string) bool { return m != "" && m != on })
}

// Energised reports whether the PDU is enabled and not unhealthy and reports that each incoming
// circuit is on.
func (p PDU) Energised() bool {
	return !p.Down() && p.Unread == "" && p.State != "" && len(p.Mains) > 0 && !slices.Contains(p.Mains, "")
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
	// Unread is why the chassis, its draw or its state could not be read: it has neither then.
	Unread string `json:"unread,omitempty"`
}

// On reports whether the chassis is switched on. The controller of a chassis that is off also
// draws power.
func (c Chassis) On() bool { return c.State == on && c.Watts > 0 }

// Unread names the PDUs and chassis that could not be read; nil without any.
func (r Reading) Unread() error {
	var out []error
	for _, p := range r.PDUs {
		if p.Unread != "" {
			out = append(out, fmt.Errorf("PDU %s: %s", p.ID, p.Unread))
		}
	}
	for _, c := range r.Chassis {
		if c.Unread != "" {
			out = append(out, fmt.Errorf("chassis %s: %s", c.ID, c.Unread))
		}
	}
	return errors.Join(out...)
}

// Read reads all PDUs of a controller and the chassis that the site lists. One that cannot be read leaves the others
// readable: controllers answer 500 for a single resource (openbmc/bmcweb issue 98).
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
	var root struct{ Chassis, PowerEquipment common.Link }
	if err := get(client, common.DefaultServiceRoot, &root); err != nil {
		return Reading{}, fmt.Errorf("read the service of controller %s: %w", r.Name, err)
	}
	out := Reading{Controller: r.Name}
	if len(r.PDUs) > 0 {
		if out.PDUs, err = pdus(client, root.PowerEquipment, r.PDUs); err != nil {
			return Reading{}, fmt.Errorf("read the PDUs of controller %s: %w", r.Name, err)
		}
	}
	if len(r.Chassis) > 0 {
		if out.Chassis, err = chassis(client, root.Chassis, r.Chassis); err != nil {
			return Reading{}, fmt.Errorf("read the chassis of controller %s: %w", r.Name, err)
		}
	}
	return out, nil
}

// pdus reads all PDUs. Of those that cannot be read, the wanted ones have the reason.
func pdus(client *gofish.APIClient, equipment common.Link, wanted []string) ([]PDU, error) {
	if equipment == "" {
		return nil, errors.New("the service has no PowerEquipment")
	}
	var power struct{ RackPDUs common.Link }
	if err := get(client, equipment.String(), &power); err != nil {
		return nil, err
	}
	uris, err := members(client, power.RackPDUs)
	if err != nil {
		return nil, err
	}
	out := make([]PDU, 0, len(uris))
	var unread error
	for _, uri := range uris {
		p, err := pdu(client, uri)
		if p.ID == "" && err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		if err != nil {
			p.Unread = err.Error()
		}
		out = append(out, p)
	}
	for _, id := range wanted {
		if unread != nil && !slices.ContainsFunc(out, func(p PDU) bool { return p.ID == id }) {
			out = append(out, PDU{ID: id, Unread: fmt.Sprintf("was not found, and one could not be read: %v", unread)})
		}
	}
	return out, nil
}

// pdu reads a PDU. An error with its ID is of its mains.
func pdu(client *gofish.APIClient, uri string) (PDU, error) {
	var unit struct {
		ID     string `json:"Id"`
		Status struct{ State, Health, HealthRollup string }
		Mains  common.Link
	}
	if err := get(client, uri, &unit); err != nil {
		return PDU{}, err
	}
	p := PDU{ID: unit.ID, State: unit.Status.State, Health: unit.Status.Health}
	if unit.Status.HealthRollup == critical { // also if a part of the unit is, such as a branch
		p.Health = critical
	}
	circuits, err := members(client, unit.Mains) // none if the controller has no such link
	if err != nil {
		return p, fmt.Errorf("mains: %w", err)
	}
	for _, uri := range circuits {
		var c circuit
		if err := get(client, uri, &c); err != nil {
			return p, fmt.Errorf("mains: %w", err)
		}
		p.Mains = append(p.Mains, c.state())
		if c.BreakerState != "" && c.BreakerState != "Normal" {
			p.Mains = append(p.Mains, "breaker "+c.BreakerState)
		}
	}
	return p, nil
}

// circuit has the fields of a circuit that are read.
type circuit struct {
	PowerState, BreakerState string
	Voltage                  voltage
	PolyPhaseVoltage         map[string]voltage // such as Line1ToLine2
}

// voltage is in volts; nil for null.
type voltage struct{ Reading *float64 }

// leastVolts is below the lowest nominal voltage of a feed, 48 V of DC (Circuit.v1_9_0, NominalVoltage): the meter of a dead
// feed may show a few volts.
const leastVolts = 40

// state is the power state of a circuit. The mains of PDUs cannot be switched and need not have one: it is then what all
// their voltages show, and empty if they differ or none is shown.
func (c circuit) state() string {
	if c.PowerState != "" {
		return c.PowerState
	}
	live, dead := 0, 0
	for _, v := range append(slices.Collect(maps.Values(c.PolyPhaseVoltage)), c.Voltage) {
		switch {
		case v.Reading == nil:
		case math.Abs(*v.Reading) >= leastVolts:
			live++
		default:
			dead++
		}
	}
	switch {
	case live > 0 && dead == 0:
		return on
	case dead > 0 && live == 0:
		return "no voltage"
	default:
		return ""
	}
}

// chassisResource has the fields of a chassis that are read.
type chassisResource struct {
	ID                        string `json:"Id"`
	PowerState                string
	Power, EnvironmentMetrics common.Link
	Links                     struct{ ComputerSystems common.Links }
}

// chassis reads those that are wanted; one that cannot be read has the reason. Others that cannot be read are left out:
// the controllers of some servers list chassis that they do not have.
func chassis(client *gofish.APIClient, collection common.Link, wanted []string) ([]Chassis, error) {
	uris, err := members(client, collection)
	if err != nil {
		return nil, err
	}
	byID := map[string]chassisResource{}
	var unread error
	for _, uri := range uris {
		var c chassisResource
		if err := get(client, uri, &c); err != nil {
			unread = cmp.Or(unread, err)
			continue
		}
		byID[c.ID] = c
	}
	var out []Chassis
	for _, id := range wanted {
		c, ok := byID[id]
		switch {
		case ok:
			out = append(out, one(client, c))
		case unread != nil:
			out = append(out, Chassis{ID: id, Unread: fmt.Sprintf("was not found, and one could not be read: %v", unread)})
		} // the gate reports others as missing
	}
	return out, nil
}

// one reads the draw and the state of a chassis.
func one(client *gofish.APIClient, c chassisResource) Chassis {
	watts, metered, err := draws(client, c)
	if err != nil {
		return Chassis{ID: c.ID, Unread: err.Error()}
	}
	state, err := stateOf(client, c)
	if err != nil {
		return Chassis{ID: c.ID, Unread: fmt.Sprintf("its systems: %v", err)}
	}
	return Chassis{ID: c.ID, State: state, Watts: watts, Unmetered: !metered}
}

// stateOf is the power state of a chassis. It is On if neither the chassis nor one of its systems reports
// another state: Redfish lets a chassis report none, and some report On while their host is off.
func stateOf(client *gofish.APIClient, c chassisResource) (string, error) {
	if c.PowerState != "" && c.PowerState != on {
		return c.PowerState, nil
	}
	state := c.PowerState
	for _, uri := range c.Links.ComputerSystems.ToStrings() {
		var system struct{ PowerState string }
		if err := get(client, uri, &system); err != nil {
			return "", err
		}
		if system.PowerState != "" && (state == "" || state == on) {
			state = system.PowerState
		}
	}
	return state, nil
}

// draws is the power draw of a chassis in watts: from Power, or from the EnvironmentMetrics
// of newer controllers, which may have a Power without a draw. It is metered if it is a number.
func draws(client *gofish.APIClient, c chassisResource) (watts float64, metered bool, err error) {
	var power struct{ PowerControl []control }
	if c.Power != "" {
		if err := get(client, c.Power.String(), &power); err != nil {
			return 0, false, err
		}
	}
	watts, metered = consumed(power.PowerControl)
	if watts > 0 {
		return watts, true, nil
	}
	var metrics struct {
		PowerWatts struct{ Reading *float64 }
	}
	switch {
	case c.EnvironmentMetrics != "":
		if err := get(client, c.EnvironmentMetrics.String(), &metrics); err != nil {
			return 0, false, err
		}
	case len(power.PowerControl) == 0:
		return 0, false, errors.New("power draw not found: neither PowerControl nor EnvironmentMetrics")
	}
	if reading := metrics.PowerWatts.Reading; reading != nil {
		return *reading, true, nil
	}
	return watts, metered, nil
}

// control is one entry of PowerControl. PowerConsumedWatts is nil for null.
type control struct {
	PhysicalContext    string
	PowerConsumedWatts *float64
}

// consumed is the sum of the controls of the chassis: of those that are marked as the chassis', or else of those
// without a mark. Others are of parts, such as the CPUs, and have a share of the same draw. It is metered if one of them
// has a number.
func consumed(controls []control) (watts float64, metered bool) {
	for _, of := range []string{"Chassis", ""} {
		whole := slices.DeleteFunc(slices.Clone(controls), func(c control) bool { return c.PhysicalContext != of })
		if len(whole) > 0 {
			controls = whole
			break
		}
	}
	for _, c := range controls {
		if c.PowerConsumedWatts != nil {
			watts, metered = watts+*c.PowerConsumedWatts, true
		}
	}
	return watts, metered
}
