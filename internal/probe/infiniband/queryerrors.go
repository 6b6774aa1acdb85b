package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ErrorReport is the whole output.
type ErrorReport struct {
	NodesChecked int          `json:"nodesChecked"`
	PortsChecked int          `json:"portsChecked"`
	Ports        []PortErrors `json:"ports"`
	// QueryFailures are queries that were not answered. A port that did not
	// answer is not in Ports, as a port without errors is not.
	QueryFailures int `json:"queryFailures,omitempty"`
	// Warnings are lines of the tool's library that got into its output.
	Warnings []string `json:"warnings,omitempty"`
}

// PortErrors is one port with counters beyond the tool's thresholds.
type PortErrors struct {
	// Node is the node's description: "leaf-3", or "gpu-02 mlx5_3".
	Node     string            `json:"node"`
	GUID     string            `json:"guid"`
	Port     int               `json:"port"`
	Counters map[string]uint64 `json:"counters"`
}

var (
	nodeLine      = regexp.MustCompile(`^Errors for (?:(0x[0-9a-fA-F]+) )?"(.*)"$`)
	queryPortLine = regexp.MustCompile(`^\s+GUID (0x[0-9a-fA-F]+) port (ALL|\d+): (.*)$`)
	counter       = regexp.MustCompile(`\[(\w+) == (\d+)(?: \([^)]*\))?\]`)
	counterList   = regexp.MustCompile(`^(?:\[\w+ == \d+(?: \([^)]*\))?\] ?)+$`)
	linkInfo      = regexp.MustCompile(`^\s+Link info:`)
	summaryLine   = regexp.MustCompile(`^## Summary: (\d+) nodes checked, (\d+) bad nodes found$`)
	failureLine   = regexp.MustCompile(`^##\s+(\d+) PMA query failures$`)
	listLine      = regexp.MustCompile(`^## (?:Thresholds:|Suppressed:|\(null\)$)`)
	portsLine     = regexp.MustCompile(`^##\s+(\d+) ports checked, (\d+) ports have errors beyond threshold$`)
)

// maxWarnings bounds the lines of the library that are kept.
const maxWarnings = 16

// ParseQueryErrors reads the whole output; without the summary at its end it is cut short.
func ParseQueryErrors(out []byte) (ErrorReport, error) {
	return guard.Parse("ibqueryerrors", func() (ErrorReport, error) { return parseQueryErrors(out) })
}

func parseQueryErrors(out []byte) (ErrorReport, error) {
	var r ErrorReport
	node, summary := "", false
	n := 0
	for raw := range strings.SplitSeq(string(out), "\n") {
		n++
		text := strings.TrimRight(raw, " \r")
		var err error
		switch {
		case text == "", linkInfo.MatchString(text), listLine.MatchString(text):
		case strings.HasPrefix(text, "ibwarn:"):
			if len(r.Warnings) < maxWarnings {
				r.Warnings = append(r.Warnings, text)
			}
		case nodeLine.MatchString(text):
			node = nodeLine.FindStringSubmatch(text)[2]
		case queryPortLine.MatchString(text):
			err = r.port(node, queryPortLine.FindStringSubmatch(text))
		case summaryLine.MatchString(text):
			r.NodesChecked, err = strconv.Atoi(summaryLine.FindStringSubmatch(text)[1])
		case portsLine.MatchString(text):
			r.PortsChecked, err = strconv.Atoi(portsLine.FindStringSubmatch(text)[1])
			summary = true
		case failureLine.MatchString(text):
			r.QueryFailures, err = strconv.Atoi(failureLine.FindStringSubmatch(text)[1])
		default:
			err = fmt.Errorf("%.160q is no line of ibqueryerrors", text)
		}
		if err != nil {
			return ErrorReport{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if !summary {
		return ErrorReport{}, errors.New("no summary at the end: the output of ibqueryerrors is cut short or empty")
	}
	if r.NodesChecked == 0 || r.PortsChecked == 0 {
		return ErrorReport{}, errors.New("ibqueryerrors checked nothing")
	}
	return r, nil
}

func (r *ErrorReport) port(node string, g []string) error {
	if g[2] == "ALL" {
		return nil // the sum over a switch's ports, which follow
	}
	if node == "" {
		return errors.New("a port before any node")
	}
	number, err := strconv.Atoi(g[2])
	if err != nil {
		return fmt.Errorf("read a port's number: %w", err)
	}
	if !counterList.MatchString(g[3]) {
		return fmt.Errorf("the counters of port %d of %s cannot be read: %.160q", number, node, g[3])
	}
	p := PortErrors{Node: node, GUID: strings.ToLower(g[1]), Port: number, Counters: map[string]uint64{}}
	for _, c := range counter.FindAllStringSubmatch(g[3], -1) {
		v, err := strconv.ParseUint(c[2], 10, 64)
		if err != nil {
			return fmt.Errorf("read counter %s: %w", c[1], err)
		}
		p.Counters[c[1]] = v
	}
	r.Ports = append(r.Ports, p)
	return nil
}
