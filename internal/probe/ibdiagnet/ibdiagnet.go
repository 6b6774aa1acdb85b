// Package ibdiagnet reads what ibdiagnet2 prints: its stages with their
// warnings and errors, how many nodes it found, and its error lines. The tool
// exits 0 with errors, so only this counts.
package ibdiagnet

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Report is the whole output.
type Report struct {
	Stages []Stage `json:"stages"`
	// The fabric's totals; nil when the output has no fabric summary.
	TotalNodes *int `json:"totalNodes,omitempty"`
	Switches   *int `json:"switches,omitempty"`
	CAs        *int `json:"channelAdapters,omitempty"`
	// Errors are the -E- lines.
	Errors []Error `json:"errors,omitempty"`
}

// Error is one -E- line.
type Error struct {
	// Section is the heading that it stands under, mostly a stage's name; empty
	// before the first.
	Section string `json:"section,omitempty"`
	// Text is the line without its mark.
	Text string `json:"text"`
	// Ports are those that the line names: one, or a link's two.
	Ports []Port `json:"ports,omitempty"`
}

// Port is a port as ibdiagnet names it: S<system GUID>/N<node GUID>/P<port>.
type Port struct {
	NodeGUID string `json:"nodeGUID"`
	// Port is 0 where the line gives a cage's label ("P1/27/2") instead.
	Port  int    `json:"port,omitempty"`
	Label string `json:"label"`
}

// Stage is one row of the summary.
type Stage struct {
	Name     string `json:"name"`
	Warnings int    `json:"warnings"`
	Errors   int    `json:"errors"`
}

// Stage finds a row.
func (r Report) Stage(name string) (Stage, bool) {
	for _, s := range r.Stages {
		if s.Name == name {
			return s, true
		}
	}
	return Stage{}, false
}

var (
	header = regexp.MustCompile(`^-I- Stage\s+Warnings\s+Errors`)
	row    = regexp.MustCompile(`^-[IWE]- (.+?)\s{2,}(\d+)\s+(\d+)(?:\s+.*)?$`)
	total  = regexp.MustCompile(`^(Total Nodes|IB Switches|IB Channel Adapters)\s*: (\d+)$`)
	failed = regexp.MustCompile(`^-E- (.*)$`)
	dashes = regexp.MustCompile(`^-{20,}$`)
	port   = regexp.MustCompile(`\bS[0-9a-fA-F]{16}/N([0-9a-fA-F]{16})(?:/[^/\s<]*)??/P(\d+)((?:/\d+)*)`)
)

// Parse reads the whole output; without its summary it is cut short.
func Parse(out []byte) (Report, error) {
	return guard.Parse("ibdiagnet", func() (Report, error) { return parse(out) })
}

func parse(out []byte) (Report, error) {
	var r Report
	summary, heading, section := false, false, ""
	for raw := range strings.SplitSeq(string(out), "\n") {
		text := strings.TrimRight(raw, " \r")
		var err error
		if heading && text != "" {
			section, heading = text, false
		}
		switch {
		case dashes.MatchString(text):
			heading = true
		case header.MatchString(text):
			summary = true
		case summary && row.MatchString(text):
			err = r.stage(row.FindStringSubmatch(text))
		case total.MatchString(text):
			err = r.total(total.FindStringSubmatch(text))
		case failed.MatchString(text):
			r.Errors = append(r.Errors, complaint(section, failed.FindStringSubmatch(text)[1]))
		}
		if err != nil {
			return Report{}, err
		}
	}
	if len(r.Stages) == 0 {
		return Report{}, errors.New("no summary of stages: the output of ibdiagnet is cut short, empty, or of another tool")
	}
	return r, nil
}

func complaint(section, text string) Error {
	e := Error{Section: section, Text: text}
	for _, g := range port.FindAllStringSubmatch(text, -1) {
		p := Port{NodeGUID: "0x" + strings.ToLower(g[1]), Label: "P" + g[2] + g[3]}
		if n, err := strconv.Atoi(g[2]); err == nil && g[3] == "" {
			p.Port = n
		}
		e.Ports = append(e.Ports, p)
	}
	return e
}

func (r *Report) stage(g []string) error {
	warnings, errW := strconv.Atoi(g[2])
	faults, errE := strconv.Atoi(g[3])
	if err := errors.Join(errW, errE); err != nil {
		return fmt.Errorf("read stage %q: %w", g[1], err)
	}
	r.Stages = append(r.Stages, Stage{Name: g[1], Warnings: warnings, Errors: faults})
	return nil
}

func (r *Report) total(g []string) error {
	n, err := strconv.Atoi(g[2])
	if err != nil {
		return fmt.Errorf("read %s: %w", g[1], err)
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
