package world

import (
	"fmt"
	"slices"
)

// IMEX is the IMEX daemon of a node; zero where NVLink is inside of nodes.
type IMEX struct {
	Version string
	Stopped bool
	// Cut: its connections to the daemons of other nodes are lost.
	Cut bool
	// TextOnly: nvidia-imex-ctl has no option -j.
	TextOnly bool
}

func imexOf(hw Hardware) IMEX {
	if hw.Node.NVLinkDomain == 0 {
		return IMEX{}
	}
	return IMEX{Version: hw.Software.Driver}
}

// nvlinkCluster is the UUID of the NVLink domain of a rack, in the form of a GB300 NVL72's.
func nvlinkCluster(spec Spec, hw Hardware, rack string) string {
	if hw.Node.NVLinkDomain == 0 {
		return ""
	}
	var racks []string
	for _, n := range spec.GPUNodes {
		racks = append(racks, n.Rack)
	}
	slices.Sort(racks)
	return fmt.Sprintf("%08x-0000-0000-0000-000000000001", slices.Index(slices.Compact(racks), rack)+1)
}

// imexFaults returns the faults of gate node that are defects of IMEX domains.
func imexFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "imex-daemon-down", Gate: "node", MultiNode: true, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's IMEX daemon does not run", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].IMEX.Stopped = true },
		},
		{
			Kind: "imex-domain-degraded", Gate: "node", MultiNode: true, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the connections between a node's IMEX daemon and those of the other nodes are lost", Suspect: `{node}`,
			Options: []FaultOption{{
				Name: "output", Default: "json", Values: []string{"json", "text"}, Summary: "the form of the output of nvidia-imex-ctl; with text it has no option -j",
			}},
			apply: func(d *draft, t target, f Fault) {
				d.Nodes[t.node].IMEX.Cut = true
				for i := range d.Nodes {
					d.Nodes[i].IMEX.TextOnly = f.Options["output"] == "text"
				}
			},
		},
		{
			Kind: "imex-version-mismatch", Gate: "node", MultiNode: true, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's IMEX daemon is of another version than the driver and the other daemons", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				n := &d.Nodes[t.node]
				n.IMEX.Version = n.Hardware.Software.OtherDriver
			},
		},
	}
}
