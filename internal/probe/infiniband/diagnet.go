package infiniband

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// DiagnetReport is the output of ibdiagnet2. ibdiagnet2 exits 0 even with errors, so only its
// output counts.
type DiagnetReport struct {
	Stages []DiagnetStage `json:"stages"`
	// Totals of the fabric; nil if the output has no fabric summary.
	TotalNodes *int `json:"totalNodes,omitempty"`
	Switches   *int `json:"switches,omitempty"`
	CAs        *int `json:"channelAdapters,omitempty"`
	// Errors are the -E- lines.
	Errors []DiagnetError `json:"errors,omitempty"`
}

// DiagnetError is one -E- line.
type DiagnetError struct {
	// Section is the heading above the line, usually a stage name; empty before the first.
	Section string `json:"section,omitempty"`
	// Text is the line without "-E-".
	Text string `json:"text"`
	// Ports are the ports that the line names: one, or both ends of a link.
	Ports []DiagnetPort `json:"ports,omitempty"`
}

// DiagnetPort is a port as ibdiagnet names it: S<system GUID>/N<node GUID>/P<port>, or by the node's description:
// gpu-02/mlx5_1/P1 or gpu-02/U1/P1 of a host, leaf-1/U1/P24 of a managed switch.
type DiagnetPort struct {
	NodeGUID string `json:"nodeGUID,omitempty"`
	// Node is the name without the port, where it has no GUID: "gpu-02/mlx5_1".
	Node string `json:"node,omitempty"`
	// Port is 0 where the line gives a cage's label ("P1/27/2") instead.
	Port  int    `json:"port,omitempty"`
	Label string `json:"label"`
}

// DiagnetStage is one row of the summary.
type DiagnetStage struct {
	Name     string `json:"name"`
	Warnings int    `json:"warnings"`
	Errors   int    `json:"errors"`
	// Skipped: the comment says that the stage did not run.
	Skipped bool `json:"skipped,omitempty"`
}

// Stage returns the row of a stage.
func (r DiagnetReport) Stage(name string) (DiagnetStage, bool) {
	for _, s := range r.Stages {
		if s.Name == name {
			return s, true
		}
	}
	return DiagnetStage{}, false
}

var (
	header = regexp.MustCompile(`^-I- Stage\s+Warnings\s+Errors`)
	row    = regexp.MustCompile(`^-[IWE]- (.+?)\s+(\d+)\s+(\d+)(?:\s+(.*))?$`) // a long name leaves one space in a narrow table
	total  = regexp.MustCompile(`^(Total Nodes|IB Switches|IB Channel Adapters)\s*: (\d+)$`)
	failed = regexp.MustCompile(`^-E- (.*)$`)
	dashes = regexp.MustCompile(`^-{20,}$`)
	port   = regexp.MustCompile(`([^\s<>()"',:=]+)/P(\d+)((?:/\d+)*)\b`)
	byGUID = regexp.MustCompile(`\bS[0-9a-fA-F]{16}/N([0-9a-fA-F]{16})(?:/[^/]*)?$`)
)

// ParseDiagnet parses the output of ibdiagnet2. Output without the stage summary is
// truncated: an error.
func ParseDiagnet(out []byte) (DiagnetReport, error) {
	return guard.Parse("ibdiagnet", func() (DiagnetReport, error) { return parseDiagnet(out) })
}

func parseDiagnet(out []byte) (DiagnetReport, error) {
	var r DiagnetReport
	// summary: in the table of stages, which may have blank lines between its rows; gap: after one.
	summary, gap, heading, section := false, false, false, ""
	for raw := range strings.SplitSeq(string(out), "\n") {
		text := strings.TrimRight(raw, " \r")
		var err error
		if heading && text != "" {
			section, heading = text, false
		}
		if gap && text != "" && !row.MatchString(text) {
			summary = false
		}
		gap = summary && text == ""
		switch {
		case dashes.MatchString(text):
			heading = true
		case header.MatchString(text):
			summary = true
		case summary && row.MatchString(text):
			err = r.stage(row.FindStringSubmatch(text))
		case summary && !gap:
			err = fmt.Errorf("read ibdiagnet: %.160q is not a row of the summary", text)
		case total.MatchString(text):
			err = r.total(total.FindStringSubmatch(text))
		case failed.MatchString(text):
			r.Errors = append(r.Errors, diagnetError(section, failed.FindStringSubmatch(text)[1]))
		}
		if err != nil {
			return DiagnetReport{}, err
		}
	}
	if len(r.Stages) == 0 {
		return DiagnetReport{}, errors.New("read ibdiagnet: no stage summary: the output is truncated, empty or of another tool")
	}
	return r, nil
}

func diagnetError(section, text string) DiagnetError {
	e := DiagnetError{Section: section, Text: text}
	for _, g := range port.FindAllStringSubmatch(text, -1) {
		p := DiagnetPort{Node: g[1], Label: "P" + g[2] + g[3]}
		if id := byGUID.FindStringSubmatch(g[1]); id != nil {
			p.Node, p.NodeGUID = "", "0x"+strings.ToLower(id[1])
		}
		if n, err := strconv.Atoi(g[2]); err == nil && g[3] == "" {
			p.Port = n
		}
		e.Ports = append(e.Ports, p)
	}
	return e
}

func (r *DiagnetReport) stage(g []string) error {
	warnings, errW := strconv.Atoi(g[2])
	faults, errE := strconv.Atoi(g[3])
	if err := errors.Join(errW, errE); err != nil {
		return fmt.Errorf("invalid counts of stage %q: %w", g[1], err)
	}
	r.Stages = append(r.Stages, DiagnetStage{Name: g[1], Warnings: warnings, Errors: faults, Skipped: strings.Contains(strings.ToLower(g[4]), "skip")})
	return nil
}

func (r *DiagnetReport) total(g []string) error {
	n, err := strconv.Atoi(g[2])
	if err != nil {
		return fmt.Errorf("invalid number of %s: %w", g[1], err)
	}
	switch g[1] {
	case "Total Nodes":
		r.TotalNodes = &n
	case "IB Switches":
		r.Switches = &n
	default:
		r.CAs = &n
	}
	return nil
}
