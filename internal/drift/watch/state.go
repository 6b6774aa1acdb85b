package watch

import (
	"regexp"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/redact"
)

// State is the state of one check of a node.
type State string

// The states.
const (
	OK     State = "ok"
	Failed State = "failed"
	// Unobserved: the check could not be seen, or is too old.
	Unobserved State = "unobserved"
	// Changed: a version differs from that of the accepted run (check Versions only).
	Changed State = "changed"
)

// States are all states; the index is the value of the metric.
func States() []State { return []State{OK, Failed, Unobserved, Changed} }

// Reading is the result of one check of a node in one round.
type Reading struct {
	// Node is a node's name, or Cluster. Check is a kind of observation of gate node, or Versions.
	Node, Check string
	State       State
	// Lasting: the state needs no second observation.
	Lasting  bool
	Findings []check.Finding
	// Defects tell the lasting findings apart: see defect.
	Defects []string
}

// Transition is a confirmed change of the state of checks of one node: a line of the journal.
type Transition struct {
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
	// Since is the first observation of the new state.
	Since  time.Time `json:"since"`
	Node   string    `json:"node"`
	Checks []string  `json:"checks"`
	From   State     `json:"from"`
	// To equals From if another suspect of the node has failed.
	To State `json:"to"`
	// Observations is the number of observations in a row that confirm it; 1 for a lasting defect.
	Observations int `json:"observations"`
	// Flapping: the checks were not ok so often that they count as failed in between, too.
	Flapping bool            `json:"flapping,omitempty"`
	Findings []check.Finding `json:"findings,omitempty"`
	// Defects are the identities of the lasting findings, so that another defect of the same suspect
	// is news.
	Defects []string `json:"defects,omitempty"`
	// Accept is the command that accepts a changed version.
	Accept string `json:"accept,omitempty"`
	// Evidence is the file with the observations, relative to the journal.
	Evidence string `json:"evidence,omitempty"`
}

// Rules decide when a state is confirmed: see watch.yaml.
type Rules struct{ Confirm, FlapFailures, FlapWindow int }

func (s settings) rules() Rules {
	return Rules{Confirm: s.Confirm.Value, FlapFailures: s.FlapFailures.Value, FlapWindow: s.FlapWindow.Value}
}

// identity tells findings of one check apart. A message may contain a measured value; that of a
// changed version is the version.
func identity(s State, f check.Finding) string {
	if s == Changed {
		return f.Suspect + " " + f.Message
	}
	return f.Suspect
}

var (
	xidCode = regexp.MustCompile(`^S?Xid \d+`)
	number  = regexp.MustCompile(`\d+(\.\d+)*`)
)

// defect is the identity of a lasting finding: suspect, Xid code or message without its numbers, which
// may grow, and remedy, which has the recovery action. Xid texts differ with each occurrence.
func defect(f check.Finding) string {
	what := xidCode.FindString(f.Message)
	if what == "" {
		what = number.ReplaceAllString(f.Message, "#")
	}
	return redact.String(f.Suspect + ": " + what + ": " + f.Remedy)
}

// news reports whether a finding of the reading is not known.
func (r Reading) news(known []string) bool {
	if r.State == OK || r.State == Unobserved {
		return false
	}
	return slices.ContainsFunc(r.Findings, func(f check.Finding) bool { return !slices.Contains(known, identity(r.State, f)) }) ||
		slices.ContainsFunc(r.Defects, func(d string) bool { return !slices.Contains(known, d) })
}
