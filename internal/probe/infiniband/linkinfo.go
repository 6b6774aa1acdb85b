package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// LinkPort is one line: a port as seen from its own side.
type LinkPort struct {
	// Node is the node's description: "leaf-3", or "gpu-02 mlx5_3"; GUID is the
	// port's own (of a switch, the switch's).
	Node string `json:"node"`
	GUID string `json:"guid"`
	LID  int    `json:"lid"`
	Port int    `json:"port"`
	// State is Active, Initialize, Armed or Down; PhysState LinkUp, Polling, Disabled, ...
	State     string `json:"state"`
	PhysState string `json:"physState"`
	// Width in lanes and LaneGbps are zero when the link is down.
	Width    int     `json:"width"`
	LaneGbps float64 `json:"laneGbps"`
	// Peer is empty when nothing is at the other end.
	Peer     string `json:"peer,omitempty"`
	PeerGUID string `json:"peerGUID,omitempty"`
	PeerPort int    `json:"peerPort,omitempty"`
	// CouldBe is the tool's own remark, such as "Could be 106.25 Gbps".
	CouldBe string `json:"couldBe,omitempty"`
}

// Up says that traffic can flow.
func (p LinkPort) Up() bool { return p.State == "Active" && p.PhysState == "LinkUp" }

// linkLine is one port. The number in brackets is the cage's on a chassis switch; a
// peer that does not answer over a link that is not down is "not available".
var linkLine = regexp.MustCompile(`^(0x[0-9a-fA-F]+) "\s*(.*?)\s*"\s+(\d+)\s+(\d+)\[\s*\d*\s*\] ` +
	`==\(\s*(?:(\d+)X\s+([\d.]+) Gbps(?: \(FDR10\))?\s+)?([A-Za-z]+)/\s*([A-Za-z][A-Za-z ]*)\)==>\s+` +
	`(?:"Port not available"|(?:(0x[0-9a-fA-F]+)\s+(\d+)\s+)?(\d*)\[\s*\d*\s*\] "(.*?)" \((.*)\))$`)

// ParseLinkInfo reads the whole output. A line that is none of a port is an error: what
// can't be read may be a link that is down.
func ParseLinkInfo(out []byte) ([]LinkPort, error) {
	return guard.Parse("iblinkinfo", func() ([]LinkPort, error) { return parseLinkInfo(out) })
}

func parseLinkInfo(out []byte) ([]LinkPort, error) {
	var ports []LinkPort
	n := 0
	for raw := range strings.SplitSeq(string(out), "\n") {
		n++
		text := strings.TrimRight(raw, " \r")
		if text == "" {
			continue
		}
		p, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		ports = append(ports, p)
	}
	if len(ports) == 0 {
		return nil, errors.New("no port at all: iblinkinfo found no subnet, or its output is empty")
	}
	return ports, nil
}

func parseLine(text string) (LinkPort, error) {
	g := linkLine.FindStringSubmatch(text)
	if g == nil {
		const most = 160
		return LinkPort{}, fmt.Errorf("%.*q is no line of iblinkinfo -l", most, text)
	}
	p := LinkPort{GUID: strings.ToLower(g[1]), Node: g[2], State: g[7], PhysState: g[8], Peer: g[12], PeerGUID: strings.ToLower(g[9]), CouldBe: strings.TrimSpace(g[13])}
	for _, field := range []struct {
		text string
		into *int
	}{{g[3], &p.LID}, {g[4], &p.Port}, {g[5], &p.Width}, {g[11], &p.PeerPort}} {
		if field.text == "" {
			continue
		}
		v, err := strconv.Atoi(field.text)
		if err != nil {
			return LinkPort{}, fmt.Errorf("read a number: %w", err)
		}
		*field.into = v
	}
	if g[6] != "" {
		v, err := strconv.ParseFloat(g[6], 64)
		if err != nil {
			return LinkPort{}, fmt.Errorf("read a lane's speed: %w", err)
		}
		p.LaneGbps = v
	}
	return p, nil
}
