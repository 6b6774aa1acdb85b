package world

import "github.com/firstlight/firstlight/internal/world/fabric"

// Node returns the named node.
func (s State) Node(name string) (Node, bool) {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return s.Nodes[i], true
		}
	}
	return Node{}, false
}

// GPUNodes returns the nodes with GPUs.
func (s State) GPUNodes() []Node {
	for i := range s.Nodes {
		if s.Nodes[i].System {
			return s.Nodes[:i]
		}
	}
	return s.Nodes
}

// SystemNodes returns the nodes without GPUs.
func (s State) SystemNodes() []Node { return s.Nodes[len(s.GPUNodes()):] }

// LinkAt returns the link at an end.
func (s State) LinkAt(e fabric.End) (fabric.Link, bool) {
	for i := range s.Links {
		if s.Links[i].Touches(e) {
			return s.Links[i], true
		}
	}
	return fabric.Link{}, false
}

// HCALink returns the link of a node's HCA.
func (s State) HCALink(node, hca string) (fabric.Link, bool) {
	return s.LinkAt(fabric.End{Node: node, Device: hca, Port: 1})
}

// Switch returns the named switch.
func (s State) Switch(name string) (fabric.Switch, bool) {
	for _, sw := range s.Switches {
		if sw.Name == name {
			return sw, true
		}
	}
	return fabric.Switch{}, false
}

// UsableGPUs counts the GPUs that the device plugin advertises.
func (n Node) UsableGPUs() int {
	if n.NVMLError != "" {
		return 0
	}
	count := 0
	for _, g := range n.GPUs {
		if g.Usable() {
			count++
		}
	}
	return count
}

// NVLinkFraction returns the share of NVLinks that are up on the node's worst usable GPU.
func (n Node) NVLinkFraction() float64 {
	worst := 1.0
	for _, g := range n.GPUs {
		if !g.Usable() || len(g.NVLinkUp) == 0 {
			continue
		}
		up := 0
		for _, ok := range g.NVLinkUp {
			if ok {
				up++
			}
		}
		worst = min(worst, float64(up)/float64(len(g.NVLinkUp)))
	}
	return worst
}

// ClockFactor returns the speed of the node's slowest GPU under load; 1 is healthy.
func (n Node) ClockFactor() float64 {
	worst := 1.0
	hw := &n.Hardware.GPU
	for i := range n.GPUs {
		g := &n.GPUs[i]
		if !g.Usable() {
			continue
		}
		f := float64(loadClock(hw, g)) / float64(hw.LoadSMClock)
		worst = min(worst, f)
	}
	return worst
}

// MatmulTFLOPS returns the throughput of one of the node's GPUs under full load.
func (n Node) MatmulTFLOPS(g GPU) float64 {
	hw := &n.Hardware.GPU
	return hw.MatmulTFLOPS * g.Speed * float64(loadClock(hw, &g)) / float64(hw.LoadSMClock)
}
