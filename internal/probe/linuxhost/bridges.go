package linuxhost

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Bridge is a PCI bridge of a host.
type Bridge struct {
	Address string `json:"address"` // 0000:17:00.0
	// First and Last are the buses behind it.
	First int `json:"first"`
	Last  int `json:"last"`
	// Port is UpstreamPort or DownstreamPort for a port of a PCIe switch.
	Port string `json:"port,omitempty"`
	// Denied: lspci could not read its capabilities, which needs root.
	Denied bool `json:"denied,omitempty"`
	// Redirects are the enabled ACS controls that redirect peer-to-peer traffic to the root complex.
	Redirects []string `json:"redirects,omitempty"`
}

// The ports of a switch.
const (
	UpstreamPort   = "Upstream Port"
	DownstreamPort = "Downstream Port"
)

// BridgesCommand lists the PCI bridges (class 0604) with their capabilities. ParseBridges reads its output.
func BridgesCommand() []string { return []string{"lspci", "-D", "-vvv", "-d", "::0604"} }

var (
	bridgeLine   = regexp.MustCompile(`^([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) \S`)
	busLine      = regexp.MustCompile(`^Bus: primary=[0-9a-f]{2}, secondary=([0-9a-f]{2}), subordinate=([0-9a-f]{2})\b`)
	expressLine  = regexp.MustCompile(`^Capabilities: \[[0-9a-f]+\] Express \(v\d+\) (Root Port|Upstream Port|Downstream Port)\b`)
	controlLine  = regexp.MustCompile(`^ACSCtl:\s`)
	redirections = []string{"ReqRedir+", "CmpltRedir+"}
)

// ParseBridges parses the output of BridgesCommand. An output without a bridge is an error: only a virtual machine may
// have none.
func ParseBridges(out []byte) ([]Bridge, error) {
	return guard.Parse("PCI bridges", func() ([]Bridge, error) { return parseBridges(out) })
}

// noBus is the first bus of a bridge before the line of its buses is read. A bridge without buses has 0.
const noBus = -1

func parseBridges(out []byte) ([]Bridge, error) {
	if !utf8.Valid(out) {
		return nil, errors.New("read lspci: the output is not UTF-8 text")
	}
	bridges := []Bridge{}
	for line := range strings.Lines(string(out)) {
		text := strings.TrimSpace(line)
		if m := bridgeLine.FindStringSubmatch(line); m != nil {
			bridges = append(bridges, Bridge{Address: m[1], First: noBus})
			continue
		}
		switch {
		case text == "":
			continue
		case len(bridges) == 0 || text[0] == line[0]:
			return nil, fmt.Errorf("read lspci: unexpected line %.80q", text)
		}
		if err := bridges[len(bridges)-1].line(text); err != nil {
			return nil, err
		}
	}
	if len(bridges) == 0 {
		return nil, errors.New("read lspci: no bridge is listed")
	}
	for _, b := range bridges {
		if b.First == noBus {
			return nil, fmt.Errorf("read lspci: bridge %s has no line of its buses", b.Address)
		}
	}
	return bridges, nil
}

func (b *Bridge) line(text string) (err error) {
	if m := busLine.FindStringSubmatch(text); m != nil {
		if b.First, b.Last, err = buses(m[1], m[2]); err != nil {
			return fmt.Errorf("read lspci: %.80q: %w", text, err)
		}
		return nil
	}
	if m := expressLine.FindStringSubmatch(text); m != nil && m[1] != "Root Port" {
		b.Port = m[1]
	}
	if controlLine.MatchString(text) {
		for word := range strings.FieldsSeq(text) {
			if slices.Contains(redirections, word) {
				b.Redirects = append(b.Redirects, strings.TrimSuffix(word, "+"))
			}
		}
	}
	b.Denied = b.Denied || text == "Capabilities: <access denied>"
	return nil
}

func buses(first, last string) (from, to int, err error) {
	a, err := strconv.ParseUint(first, 16, 8)
	if err != nil {
		return 0, 0, err
	}
	z, err := strconv.ParseUint(last, 16, 8)
	return int(a), int(z), err
}

// Leads reports whether the device with a bus ID (0000:1b:00.0) is behind the bridge.
func (b Bridge) Leads(busID string) bool {
	domain, rest, _ := strings.Cut(busID, ":")
	number, _, _ := strings.Cut(rest, ":")
	own, _, _ := strings.Cut(b.Address, ":")
	bus, err := strconv.ParseUint(number, 16, 8)
	return err == nil && strings.EqualFold(domain, own) && b.First <= int(bus) && int(bus) <= b.Last
}

// SwitchOf are the ports of the PCIe switches above a device, and of those that share an upstream port with it: a
// control of the port of an adapter redirects the traffic of that adapter to the GPU.
func SwitchOf(bridges []Bridge, busID string) []Bridge {
	var out []Bridge
	for _, b := range bridges {
		if b.Port != "" && slices.ContainsFunc(bridges, func(up Bridge) bool {
			return up.Port == UpstreamPort && up.Leads(busID) && (up.Address == b.Address || up.leadsTo(b))
		}) {
			out = append(out, b)
		}
	}
	return out
}

// leadsTo reports whether another bridge is behind the bridge.
func (b Bridge) leadsTo(other Bridge) bool { return b.Leads(other.Address) }
