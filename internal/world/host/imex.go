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

// imexDomain is what nvidia-imex-ctl -N prints in either form.
type imexDomain struct {
	Nodes     map[string]imexPeer `json:"nodes"`
	Timestamp string              `json:"timestamp"`
	Status    string              `json:"status"`
}

// imexCtl supports -N, -N -j and -q.
func imexCtl(c *call) int {
	switch {
	case c.has("-j") && c.node.IMEX.TextOnly:
		c.errorf("nvidia-imex-ctl: invalid option -- 'j'\n%s", imexUsage)
		return 1
	case c.has("-q"):
		state := "READY"
		if c.node.IMEX.Stopped {
			state = "UNAVAILABLE"
		}
		c.printf("%s\n", state)
		return 0
	case !c.has("-N"):
		c.errorf("%s", imexUsage)
		return 1
	}
	domain := imexDomainOf(c)
	if !c.has("-j") {
		printIMEX(c, domain)
		return 0
	}
	out, err := json.MarshalIndent(domain, "", "  ")
	if err != nil {
		c.errorf("nvidia-imex-ctl: %v\n", err)
		return 1
	}
	c.printf("%s\n", out)
	return 0
}

const imexUsage = "Usage: nvidia-imex-ctl [-i <IP> <PORT>|-u <unix domain socket path>|-c <nvidia-imex config.cfg path>] <-n|-N|-q|-s|-d|-m> [-t <timeout>]\n"

func imexDomainOf(c *call) imexDomain {
	var members []world.Node
	for _, n := range c.state.GPUNodes() {
		if n.NVLinkCluster == c.node.NVLinkCluster {
			members = append(members, n)
		}
	}
	out := imexDomain{Nodes: map[string]imexPeer{}, Timestamp: c.state.Now.UTC().Format("1/2/2006 15:04:05.000"), Status: "UP"}
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
				out.Status = "DEGRADED"
			}
			p.Connections[strconv.Itoa(k)] = imexLink{Host: address(to), Status: status, Changed: true}
		}
		out.Nodes[strconv.Itoa(i)] = p
	}
	if c.node.IMEX.Stopped {
		out.Status = "DOWN"
	}
	return out
}

// imexCodes are the codes of the legend, by the states of the JSON form.
var imexCodes = map[string]string{
	"INVALID": "I", "NEVER_CONNECTED": "N", "RECOVERING": "R", "DISCONNECTED": "D", "AUTHENTICATING": "A", "VERSION_MISMATCH": "!V!", "NODE_MAP_MISMATCH": "!M!", "CONNECTED": "C",
}

const imexLegend = `Connectivity Table Legend:
I - Invalid - Node wasn't reachable, no connection status available
N - Never Connected
R - Recovering - Connection was lost, but clean up has not yet been triggered.
D - Disconnected - Connection was lost, and clean up has been triggreed.
A - Authenticating - If GSSAPI enabled, client has initiated mutual authentication.
!V! - Version mismatch, communication disabled.
!M! - Node map mismatch, communication disabled.
C - Connected - Ready for operation

`

// printIMEX prints a domain in the text form of 570.172.
func printIMEX(c *call, d imexDomain) {
	c.printf("%s%s\nNodes:\n", imexLegend, d.Timestamp)
	head, rows := " Nodes From\\To", ""
	for i := range len(d.Nodes) {
		n := d.Nodes[strconv.Itoa(i)]
		c.printf("Node #%-3d - %-15s - %-20s - Version: %s\n", i, n.Host, n.Status, n.Version)
		head += fmt.Sprintf("  %-2d", i)
		rows += fmt.Sprintf("%8d      ", i)
		for k := range len(d.Nodes) {
			rows += fmt.Sprintf("%3s ", imexCodes[n.Connections[strconv.Itoa(k)].Status])
		}
		rows += "\n"
	}
	c.printf("\n%s\n%s\nDomain State: %s\n", head, rows, d.Status)
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
