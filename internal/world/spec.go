package world

import (
	"errors"
	"fmt"
	"time"
)

// Spec declares a world. Equal Specs give equal hardware.
type Spec struct {
	Name string
	Seed uint64
	// Hardware is a kind in hardware.yaml.
	Hardware    string
	GPUNodes    []NodeSpec
	SystemNodes []NodeSpec
	// HCAs are the device names of a GPU node, one per rail. Hardware without a compute fabric has
	// neither HCAs nor spines.
	HCAs   []string
	Spines int
	// DCGMMajor is 3 or 4; 0 means 4.
	DCGMMajor int
	Facility  FacilitySpec
	// Distribution of Kubernetes: K3s, or empty for Kubernetes.
	Distribution string
}

// NodeSpec is one host.
type NodeSpec struct {
	Name string
	// Address is the ip:port of its SSH server.
	Address string
	Rack    string
	// Hardware is the node's kind in hardware.yaml; empty: that of the Spec.
	Hardware string
}

// FacilitySpec is the facility's budgets. A zero budget means a quarter more than the nodes'
// demand.
type FacilitySpec struct {
	SignedBy  string
	Role      string
	Reference string
	SignedAt  time.Time // zero: a week before the world's creation
	Expires   time.Time // zero: half a year after
	PowerKW   float64
	CoolingKW float64
	WeightKg  float64
}

// DefaultHardware is the default kind of a lab.
const DefaultHardware = "h100-sxm-ndr400"

// DefaultSpec is the default cluster: nodes GPU nodes with eight GPUs and eight rails each, two
// system nodes, four spines. Addresses are empty.
func DefaultSpec(nodes int) Spec {
	return specOf(DefaultHardware, nodes, 8, 4)
}

// SpecOf is a cluster of nodes GPU nodes of a kind of hardware with two system nodes and, if the
// nodes have rails, four spines. Addresses are empty.
func SpecOf(hardware string, nodes int) (Spec, error) {
	hw, err := LoadHardware(hardware)
	if err != nil {
		return Spec{}, err
	}
	rack := 4
	if hw.Node.NVLinkDomain > 0 {
		rack = hw.Node.NVLinkDomain
	}
	s := specOf(hardware, nodes, hw.Node.HCAs, rack)
	if hw.Fabric.EFA != nil {
		s.HCAs = efaNames(hw)
	}
	return s, nil
}

func specOf(hardware string, nodes, hcas, nodesPerRack int) Spec {
	s := Spec{Name: "lab", Seed: 1, Hardware: hardware}
	for i := range nodes {
		s.GPUNodes = append(s.GPUNodes, NodeSpec{Name: fmt.Sprintf("gpu-%02d", i+1), Rack: fmt.Sprintf("r%d", i/nodesPerRack+1)})
	}
	for i := range 2 {
		s.SystemNodes = append(s.SystemNodes, NodeSpec{Name: fmt.Sprintf("system-%02d", i+1), Rack: "r1"})
	}
	for i := range hcas {
		s.HCAs = append(s.HCAs, fmt.Sprintf("mlx5_%d", i))
	}
	if hcas > 0 {
		s.Spines = 4
	}
	return s
}

// validate returns all problems.
func (s Spec) validate(hw Hardware) error {
	var errs []error
	if len(s.GPUNodes) == 0 {
		errs = append(errs, errors.New("no GPU nodes"))
	}
	switch {
	case hw.Node.HCAs == 0 && len(s.HCAs)+s.Spines > 0:
		errs = append(errs, fmt.Errorf("invalid %d HCAs per node and %d spines: %s has no compute fabric", len(s.HCAs), s.Spines, s.Hardware))
	case hw.Node.HCAs > 0 && (len(s.HCAs) == 0 || len(s.HCAs) > len(hw.Fabric.BusIDs)):
		errs = append(errs, fmt.Errorf("invalid %d HCAs per node: must be 1 to %d", len(s.HCAs), len(hw.Fabric.BusIDs)))
	}
	if s.DCGMMajor != 0 && s.DCGMMajor != 3 && s.DCGMMajor != 4 {
		errs = append(errs, fmt.Errorf("invalid DCGM version %d: must be 3 or 4", s.DCGMMajor))
	}
	if s.Distribution != "" && s.Distribution != K3s {
		errs = append(errs, fmt.Errorf("invalid distribution %q: must be %s, or empty", s.Distribution, K3s))
	}
	names := map[string]bool{}
	for _, n := range append(append([]NodeSpec{}, s.GPUNodes...), s.SystemNodes...) {
		if n.Name == "" {
			errs = append(errs, errors.New("a node has no name"))
		} else if names[n.Name] {
			errs = append(errs, fmt.Errorf("duplicate node name %s", n.Name))
		}
		names[n.Name] = true
	}
	return errors.Join(errs...)
}

// efaNames are the names that udev gives Elastic Fabric Adapters: of their PCI bus and slot.
func efaNames(hw Hardware) []string {
	var names []string
	for _, id := range hw.Fabric.BusIDs[:hw.Node.HCAs] {
		var bus, slot int
		if _, err := fmt.Sscanf(id, "0000:%x:%x.0", &bus, &slot); err == nil {
			names = append(names, fmt.Sprintf("rdmap%ds%d", bus, slot))
		}
	}
	return names
}
