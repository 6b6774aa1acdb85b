package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// LinkPort is one line: a port and the port at the other end of its link. iblinkinfo prints
// each link twice, once for each end.
type LinkPort struct {
	// Node is the node description: "leaf-3", or "gpu-02 mlx5_3". GUID is the port GUID, or
	// the GUID of the switch.
	Node string `json:"node"`
	GUID string `json:"guid"`
	LID  int    `json:"lid"`
	Port int    `json:"port"`
	// State is Active, Initialize, Armed or Down; PhysState LinkUp, Polling, Disabled, ...
	State     string `json:"state"`
	PhysState string `json:"physState"`
	// Width (lanes) and LaneGbps are zero if the link is down.
	Width    int     `json:"width"`
	LaneGbps float64 `json:"laneGbps"`
	// Peer is empty if no port is connected.
	Peer     string `json:"peer,omitempty"`
	PeerGUID string `json:"peerGUID,omitempty"`
	PeerPort int    `json:"peerPort,omitempty"`
	// CouldBe is the remark of iblinkinfo, such as "Could be 106.25 Gbps".
	CouldBe string `json:"couldBe,omitempty"`
}

// Up reports whether the port is Active and the link is up.
func (p LinkPort) Up() bool { return p.State == "Active" && p.PhysState == "LinkUp" }

// linkLine matches one port. The number in brackets is the cage on a chassis switch. A peer
// that does not respond on a link that is up is "not available".
var linkLine = regexp.MustCompile(`^(0x[0-9a-fA-F]+) "\s*(.*?)\s*"\s+(\d+)\s+(\d+)\[\s*\d*\s*\] ` +
	`==\(\s*(?:(\d+)X\s+([\d.]+) Gbps(?: \(FDR10\))?\s+)?([A-Za-z]+)/\s*([A-Za-z][A-Za-z ]*)\)==>\s+` +
	`(?:"Port not available"|(?:(0x[0-9a-fA-F]+)\s+(\d+)\s+)?(\d*)\[\s*\d*\s*\] "(.*?)" \((.*)\))$`)

// ParseLinkInfo parses the output of iblinkinfo -l. A line that is not a port is an error: it
// can be a link that is down.
func ParseLinkInfo(out []byte) ([]LinkPort, error) {
	return guard.Parse("iblinkinfo", func() ([]LinkPort, error) { return parseLinkInfo(out) })
}

func parseLinkInfo(out []byte) ([]LinkPort, error) {
	var ports []LinkPort
	err := eachLine("iblinkinfo", out, func(line string) error {
		p, err := parseLine(line)
		ports = append(ports, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(ports) == 0 {
		return nil, errors.New("read iblinkinfo: no port in the output: iblinkinfo found no subnet, or its output is empty")
	}
	return ports, nil
}

func parseLine(text string) (LinkPort, error) {
	g := linkLine.FindStringSubmatch(text)
	if g == nil {
		return LinkPort{}, fmt.Errorf("%.160q is not a line of iblinkinfo -l", text)
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
			return LinkPort{}, fmt.Errorf("invalid number: %w", err)
		}
		*field.into = v
	}
	if g[6] != "" {
		v, err := strconv.ParseFloat(g[6], 64)
		if err != nil {
			return LinkPort{}, fmt.Errorf("invalid lane speed: %w", err)
		}
		p.LaneGbps = v
	}
	return p, nil
}
