package host

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/firstlight/firstlight/internal/world"
)

// imexPeer is an entry of nvidia-imex-ctl -N -j, and imexLink one of its connections.
type imexPeer struct {
	Status      string              `json:"status"`
	Host        string              `json:"host"`
	Connections map[string]imexLink `json:"connections"`
	Changed     bool                `json:"changed"`
	Version     string              `json:"version"`
}

type imexLink struct {
	Host    string `json:"host"`
	Status  string `json:"status"`
	Changed bool   `json:"changed"`
}

// imexCtl supports -N -j.
func imexCtl(c *call) int {
	if !c.has("-N") || !c.has("-j") {
		c.errorf("nvidia-imex-ctl: this host's program knows -N -j only\n")
		return 1
	}
	var members []world.Node
	for _, n := range c.state.GPUNodes() {
		if n.NVLinkCluster == c.node.NVLinkCluster {
			members = append(members, n)
		}
	}
	state := "UP"
	nodes := map[string]imexPeer{}
	for i, from := range members {
		up := !from.IMEX.Stopped && !c.node.IMEX.Stopped
		p := imexPeer{Status: "UNAVAILABLE", Host: address(from), Connections: map[string]imexLink{}, Changed: true}
		if up {
			p.Status, p.Version = "READY", from.IMEX.Version
		}
		for k, to := range members {
			status := "INVALID"
			if up {
				status = imexStatus(from, to)
			}
			if status != "CONNECTED" {
				state = "DEGRADED"
			}
			p.Connections[strconv.Itoa(k)] = imexLink{Host: address(to), Status: status, Changed: true}
		}
		nodes[strconv.Itoa(i)] = p
	}
	if c.node.IMEX.Stopped {
		state = "DOWN"
	}
	out, err := json.MarshalIndent(struct {
		Nodes     map[string]imexPeer `json:"nodes"`
		Timestamp string              `json:"timestamp"`
		Status    string              `json:"status"`
	}{nodes, c.state.Now.UTC().Format("1/2/2006 15:04:05.000"), state}, "", "  ")
	if err != nil {
		c.errorf("nvidia-imex-ctl: %v\n", err)
		return 1
	}
	c.printf("%s\n", out)
	return 0
}

// imexStatus is the connection of a daemon that runs.
func imexStatus(from, to world.Node) string {
	switch {
	case from.Name == to.Name:
		return "CONNECTED"
	case to.IMEX.Stopped || from.IMEX.Cut || to.IMEX.Cut:
		return "DISCONNECTED"
	case from.IMEX.Version != to.IMEX.Version:
		return "VERSION_MISMATCH"
	default:
		return "CONNECTED"
	}
}

// address is that of a node in the management network.
func address(n world.Node) string {
	network := 8
	if n.System {
		network = 9
	}
	return fmt.Sprintf("10.%d.%d.%d", network, n.Index/250, n.Index%250+1)
}
