package nvidia

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// IMEX is what a host shows of its IMEX daemon, which exports GPU memory to the other nodes of an
// NVLink domain.
type IMEX struct {
	// Unit is the state of the unit nvidia-imex.service; nil without systemd.
	Unit *Unit `json:"unit,omitempty"`
	// Addresses are those of the host's interfaces, without loopback.
	Addresses []string `json:"addresses,omitempty"`
	// Domain is the IMEX domain as the host sees it; nil where nvidia-imex-ctl prints none.
	Domain *IMEXDomain `json:"domain,omitempty"`
	// Text: nvidia-imex-ctl printed the domain as text only: it has no option -j.
	Text bool `json:"text,omitempty"`
	// Daemon is the state of the host's own daemon ("READY", "WAITING_FOR_PEERS"); empty where
	// nvidia-imex-ctl -q prints none.
	Daemon string `json:"daemon,omitempty"`
	// Trouble is the first line that nvidia-imex-ctl prints instead of a domain.
	Trouble string `json:"trouble,omitempty"`
}

// IMEXDomain is the output of nvidia-imex-ctl -N -j, or of -N.
type IMEXDomain struct {
	State string     `json:"state"` // "UP", "DEGRADED", "DOWN"
	Nodes []IMEXNode `json:"nodes"` // each node of nodes_config.cfg, by number
}

// IMEXNode is one node of an IMEX domain.
type IMEXNode struct {
	Number  int    `json:"number"`
	Host    string `json:"host"`              // address or name, as in nodes_config.cfg
	State   string `json:"state"`             // "READY", "UNAVAILABLE", "WAITING_FOR_PEERS", "INITIALIZING"
	Version string `json:"version,omitempty"` // empty unless the daemon answers
	// Connections has the state of the connection to each node by its number: "CONNECTED",
	// "DISCONNECTED", "INVALID" where the node does not answer.
	Connections map[int]string `json:"connections,omitempty"`
}

// The section headers in the output of IMEXCommand; the first is sectionUnit.
const (
	sectionAddresses = "=addresses="
	sectionDomain    = "=domain="
	sectionText      = "=text="
	sectionDaemon    = "=daemon="
)

// imexScript asks for the domain twice: versions without -j print an error or their usage for it.
const imexScript = "echo " + sectionUnit + "; systemctl show nvidia-imex.service -p LoadState -p ActiveState -p SubState" +
	"; echo " + sectionAddresses + "; hostname -I; echo " + sectionDomain + "; nvidia-imex-ctl -N -j 2>&1" +
	"; echo " + sectionText + "; nvidia-imex-ctl -N 2>&1; echo " + sectionDaemon + "; nvidia-imex-ctl -q 2>&1"

// IMEXCommand is the command whose output ParseIMEX parses. It changes nothing.
func IMEXCommand() []string { return []string{"sh", "-c", imexScript} }

// ParseIMEX parses the output of IMEXCommand. A missing section is an error.
func ParseIMEX(data []byte) (IMEX, error) {
	return guard.Parse("IMEX", func() (IMEX, error) { return parseIMEX(data) })
}

func parseIMEX(data []byte) (m IMEX, err error) {
	if !utf8.Valid(data) {
		return m, fmt.Errorf("read IMEX: %w", errNotText)
	}
	_, rest, ok := strings.Cut(string(data), sectionUnit+"\n")
	unit, rest, ok2 := strings.Cut(rest, sectionAddresses+"\n")
	addresses, rest, ok3 := strings.Cut(rest, sectionDomain+"\n")
	domain, rest, ok4 := strings.Cut(rest, sectionText+"\n")
	text, daemon, ok5 := strings.Cut(rest, sectionDaemon+"\n")
	if !ok || !ok2 || !ok3 || !ok4 || !ok5 {
		return m, fmt.Errorf("read IMEX: want the sections %s, %s, %s, %s and %s", sectionUnit, sectionAddresses, sectionDomain, sectionText, sectionDaemon)
	}
	m.Daemon = parseIMEXDaemon(daemon)
	if m.Unit, err = parseUnit(unit); err != nil {
		return IMEX{}, err
	}
	for word := range strings.FieldsSeq(addresses) {
		if _, err := netip.ParseAddr(word); err != nil {
			return IMEX{}, fmt.Errorf("read hostname -I: %w", err)
		}
		m.Addresses = append(m.Addresses, word)
	}
	start := strings.Index("\n"+domain, "\n{")
	if start < 0 {
		m.Domain, err = parseIMEXText(text)
		if m.Text = m.Domain != nil; !m.Text {
			m.Trouble, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		}
		return m, err
	}
	m.Domain, err = parseIMEXDomain([]byte(domain[start:]))
	return m, err
}

func parseIMEXDomain(data []byte) (*IMEXDomain, error) {
	var doc struct {
		Status string `json:"status"`
		Nodes  map[string]struct {
			Status      string `json:"status"`
			Host        string `json:"host"`
			Version     string `json:"version"`
			Connections map[string]struct {
				Status string `json:"status"`
			} `json:"connections"`
		} `json:"nodes"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("read nvidia-imex-ctl -N -j: %w", err)
	}
	if doc.Status == "" {
		return nil, errors.New("read nvidia-imex-ctl -N -j: status of the domain is missing")
	}
	d := &IMEXDomain{State: doc.Status}
	for key, n := range doc.Nodes {
		number, err := strconv.Atoi(key)
		if err != nil || n.Host == "" || n.Status == "" {
			return nil, fmt.Errorf("read nvidia-imex-ctl -N -j: node %q: want a number with host and status", key)
		}
		node := IMEXNode{Number: number, Host: n.Host, State: n.Status, Version: n.Version}
		for key, c := range n.Connections {
			to, err := strconv.Atoi(key)
			if err != nil || c.Status == "" {
				return nil, fmt.Errorf("read nvidia-imex-ctl -N -j: connection %q of node %d: want a number with status", key, number)
			}
			if node.Connections == nil {
				node.Connections = map[int]string{}
			}
			node.Connections[to] = c.Status
		}
		d.Nodes = append(d.Nodes, node)
	}
	slices.SortFunc(d.Nodes, func(a, b IMEXNode) int { return a.Number - b.Number })
	return d, nil
}
