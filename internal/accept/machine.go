package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/localhost"
)

// machineKind is the kind of the observation that identifies the machine of a run without a cluster.
const machineKind = "machine"

// errNoCluster is the error for a check that needs a cluster, in a run without one.
var errNoCluster = errors.New("the site has no cluster")

// ofMachine is the identity of a machine. Nothing shows whether its hardware is simulated.
func ofMachine(m localhost.Machine) identity { return identity{uid: evidence.MachinePrefix + m.ID} }

// thisMachine identifies the machine of a run without a cluster.
func (x *execution) thisMachine() identity {
	if x.opts.Machine == nil {
		return identity{unknown: errNoCluster}
	}
	m, err := x.opts.Machine()
	if err != nil {
		return identity{unknown: err}
	}
	return ofMachine(m)
}

// identifyMachine records the identity of the machine.
func (x *execution) identifyMachine(context.Context) {
	if err := x.recordMachine(); err != nil {
		x.note("cannot identify the machine: %v", err)
	}
}

func (x *execution) recordMachine() error {
	if x.opts.Machine == nil {
		return errNoCluster
	}
	m, err := x.opts.Machine()
	if err != nil {
		return err
	}
	o, err := MachineObservation(m, x.now())
	if err == nil {
		_, err = x.run.Record(0, o)
	}
	if err != nil {
		return err
	}
	return x.run.Amend(func(h *evidence.Header) { h.Cluster = ofMachine(m).uid })
}

// MachineObservation is the observation that identifies a machine.
func MachineObservation(m localhost.Machine, at time.Time) (check.Observation, error) {
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return check.Observation{}, fmt.Errorf("encode the identity of the machine: %w", err)
	}
	return check.Observation{
		Check: IdentityCheck, Kind: machineKind, Target: ofMachine(m).uid, Command: "read /etc/machine-id (hashed), /sys/class/dmi/id", At: at, Raw: raw, Origin: localhost.Origin,
	}, nil
}

func machineIn(o check.Observation) (identity, error) {
	var m localhost.Machine
	if err := json.Unmarshal(o.Raw, &m); err != nil {
		return identity{}, fmt.Errorf("cannot read observation %s: %w", o.ID, err)
	}
	return ofMachine(m), nil
}
