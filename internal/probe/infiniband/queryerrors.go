package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// ErrorReport is the output of ibqueryerrors: the error counters of every port that has any,
// counted since they were last cleared.
type ErrorReport struct {
	NodesChecked int `json:"nodesChecked"`
	PortsChecked int `json:"portsChecked"`
	// BadPorts is the number of ports of Ports, as the tool counts them; greater if the output has lost lines.
	BadPorts int          `json:"badPorts,omitempty"`
	Ports    []PortErrors `json:"ports"`
	// QueryFailures is the number of queries without a response. A port that did not respond
	// is not in Ports, like a port without errors.
	QueryFailures int `json:"queryFailures,omitempty"`
	// Unanswered is the number of these queries by the description of the node, of those that the tool names.
	Unanswered map[string]int `json:"unanswered,omitempty"`
	// Warnings are lines that the library of the tool printed to its output.
	Warnings []string `json:"warnings,omitempty"`
}

// Unlisted is the number of ports with errors that the output does not have.
func (r ErrorReport) Unlisted() int { return max(0, r.BadPorts-len(r.Ports)) }

// PortErrors is one port with counters above the thresholds of the tool.
type PortErrors struct {
	// Node is the node description: "leaf-3", or "gpu-02 mlx5_3".
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

// unansweredLine is a warning of ibqueryerrors (rdma-core, infiniband-diags/ibqueryerrors.c), which goes to stderr: the
// description of the node, and its address.
var unansweredLine = regexp.MustCompile(`^ibwarn: \[\d+\] \w+: \w+ query failed on (.+), (.*) port \d+$`)

// CountUnanswered counts the queries without a response in the warnings on stderr.
func (r *ErrorReport) CountUnanswered(stderr []byte) {
	for line := range strings.Lines(string(stderr)) {
		if g := unansweredLine.FindStringSubmatch(strings.TrimSpace(line)); g != nil {
			if r.Unanswered == nil {
				r.Unanswered = map[string]int{}
			}
			r.Unanswered[g[1]]++
		}
	}
}

// Warnings of libibmad (rpc.c) before that of the query: that of the device, which has no address, and that of the call.
var (
	deviceLine = regexp.MustCompile(`^ibwarn: \[\d+\] _do_madrpc: (?:recv|send) failed`)
	callLine   = regexp.MustCompile(`^ibwarn: \[\d+\] mad_rpc: _do_madrpc failed; dport \((.*)\)$`)
)

// WithoutUnanswered is stderr without the warnings of queries that CountUnanswered counts. Those of the library are
// omitted only if their address is that of such a query.
func WithoutUnanswered(stderr []byte) []byte {
	lines := slices.Collect(strings.Lines(string(stderr)))
	addresses := map[string]bool{}
	for _, line := range lines {
		if g := unansweredLine.FindStringSubmatch(strings.TrimSpace(line)); g != nil {
			addresses[g[2]] = true
		}
	}
	var out []byte
	explained := false // the line after this one is the call of a counted query
	for _, line := range slices.Backward(lines) {
		text := strings.TrimSpace(line)
		call := callLine.FindStringSubmatch(text)
		switch {
		case unansweredLine.MatchString(text), explained && deviceLine.MatchString(text):
			explained = false
		case call != nil && addresses[call[1]]:
			explained = true
		default:
			explained = false
			out = append([]byte(line), out...)
		}
	}
	return out
}

// maxWarnings is the most warnings of one report.
const maxWarnings = 16

// ParseQueryErrors parses the output of ibqueryerrors. Output without the final summary is
// truncated: an error.
func ParseQueryErrors(out []byte) (ErrorReport, error) {
	return guard.Parse("ibqueryerrors", func() (ErrorReport, error) { return parseQueryErrors(out) })
}

func parseQueryErrors(out []byte) (ErrorReport, error) {
	var r ErrorReport
	node, summary := "", false
	err := eachLine("ibqueryerrors", out, func(text string) (err error) {
		switch {
		case linkInfo.MatchString(text), listLine.MatchString(text):
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
			g := portsLine.FindStringSubmatch(text)
			var errs [2]error
			r.PortsChecked, errs[0] = strconv.Atoi(g[1])
			r.BadPorts, errs[1] = strconv.Atoi(g[2])
			err = errors.Join(errs[:]...)
			summary = true
		case failureLine.MatchString(text):
			r.QueryFailures, err = strconv.Atoi(failureLine.FindStringSubmatch(text)[1])
		default:
			err = fmt.Errorf("%.160q is not a line of ibqueryerrors", text)
		}
		return err
	})
	if err != nil {
		return ErrorReport{}, err
	}
	if !summary {
		return ErrorReport{}, errors.New("read ibqueryerrors: no summary at the end: the output is truncated or empty")
	}
	if r.NodesChecked == 0 || r.PortsChecked == 0 {
		return ErrorReport{}, errors.New("read ibqueryerrors: no node or no port was checked")
	}
	if len(r.Ports) == 0 && r.BadPorts > 0 {
		return ErrorReport{}, fmt.Errorf("read ibqueryerrors: %d ports have errors, and none is listed: the output is cut at its beginning", r.BadPorts)
	}
	return r, nil
}

func (r *ErrorReport) port(node string, g []string) error {
	if g[2] == "ALL" {
		return nil // the sum of the ports of a switch, which follow
	}
	if node == "" {
		return errors.New("port without a node line before it")
	}
	number, err := strconv.Atoi(g[2])
	if err != nil {
		return fmt.Errorf("invalid port number: %w", err)
	}
	if !counterList.MatchString(g[3]) {
		return fmt.Errorf("invalid counters of port %d of %s: %.160q", number, node, g[3])
	}
	p := PortErrors{Node: node, GUID: strings.ToLower(g[1]), Port: number, Counters: map[string]uint64{}}
	for _, c := range counter.FindAllStringSubmatch(g[3], -1) {
		v, err := strconv.ParseUint(c[2], 10, 64)
		if err != nil {
			return fmt.Errorf("invalid counter %s: %w", c[1], err)
		}
		p.Counters[c[1]] = v
	}
	r.Ports = append(r.Ports, p)
	return nil
}
