package attest

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

// The checks of Verify, in order.
const (
	CheckArchive      = "archive"      // the archive is complete and valid
	CheckEnvelope     = "envelope"     // one DSSE envelope of the right type
	CheckSignature    = "signature"    // of a given key
	CheckSchema       = "schema"       // the statement matches its schema
	CheckManifest     = "manifest"     // the manifest is unchanged and that of the statement
	CheckFiles        = "files"        // every file matches the manifest
	CheckSubject      = "subject"      // the statement is about this run
	CheckStatement    = "statement"    // the statement matches the run
	CheckCompleteness = "completeness" // every planned step has a verdict
	CheckPlan         = "plan"         // the plan is the one that the inputs require
	CheckClaims       = "claims"       // observations confirm the statements of run.json
	CheckVerdicts     = "verdicts"     // verdicts.json matches the journal
	CheckReplay       = "replay"       // every verdict replays
	CheckExpected     = "expected"     // the run is the expected one
)

// order is that of a Report's checks.
var order = []string{
	CheckArchive, CheckEnvelope, CheckSignature, CheckSchema, CheckManifest, CheckFiles, CheckSubject, CheckStatement,
	CheckCompleteness, CheckPlan, CheckClaims, CheckVerdicts, CheckReplay, CheckExpected,
}

// Outcome is the result of one check.
type Outcome string

// The outcomes.
const (
	OK         Outcome = "ok"
	Wrong      Outcome = "failed"
	NotChecked Outcome = "not checked" // the detail has the reason; never a pass
	None       Outcome = "not wanted"  // not requested by the caller
)

// Checked is one check of a Report.
type Checked struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
}

// Problem is one problem.
type Problem struct {
	Check string `json:"check"`
	// Where is a file, or a place in the statement.
	Where   string `json:"where,omitempty"`
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Where == "" {
		return p.Check + ": " + p.Message
	}
	return p.Check + ": " + p.Where + ": " + p.Message
}

// Report is the result of Verify.
type Report struct {
	Run string `json:"run,omitempty"`
	// State and CompleteUpTo are the progress of the run, Missing the steps without a verdict.
	State        State         `json:"state,omitempty"`
	CompleteUpTo string        `json:"completeUpTo,omitempty"`
	Missing      []string      `json:"missing,omitempty"`
	Verdict      check.Verdict `json:"verdict,omitempty"`
	// NarrowedBy are the reasons why the verdict does not cover the whole plan in one run.
	NarrowedBy []string          `json:"narrowedBy,omitempty"`
	Simulated  evidence.Hardware `json:"simulated"`
	// Claims are the statements of run.json and their basis.
	Claims []evidence.Claim `json:"claims,omitempty"`
	// Manifest is the digest of the manifest.
	Manifest string `json:"manifest,omitempty"`
	// SignedBy is the key of the verified signature.
	SignedBy string             `json:"signedBy,omitempty"`
	Checks   []Checked          `json:"checks"`
	Problems []Problem          `json:"problems"`
	Replayed *evidence.Replayed `json:"-"`
}

// Outcome is the overall outcome: Wrong with any problem, NotChecked if a requested check was
// not possible.
func (r Report) Outcome() Outcome {
	if len(r.Problems) > 0 {
		return Wrong
	}
	if len(r.Checks) == 0 {
		return NotChecked
	}
	for _, c := range r.Checks {
		if c.Outcome != OK && c.Outcome != None {
			return NotChecked
		}
	}
	return OK
}

// Unchecked are the requested checks that were not possible.
func (r Report) Unchecked() []string {
	var names []string
	for _, c := range r.Checks {
		if c.Outcome == NotChecked {
			names = append(names, c.Check)
		}
	}
	return names
}

// String has one line per problem.
func (r Report) String() string {
	lines := make([]string, len(r.Problems))
	for i, p := range r.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Progress describes the progress of the run.
func (r Report) Progress() string {
	switch {
	case r.State != Interrupted:
		return string(r.State)
	case r.CompleteUpTo == "":
		return "interrupted before its first verdict; missing: " + strings.Join(r.Missing, ", ")
	case len(r.Missing) == 0:
		return "interrupted after its last verdict, before its reports"
	default:
		return fmt.Sprintf("interrupted, complete up to step %s; missing: %s", r.CompleteUpTo, strings.Join(r.Missing, ", "))
	}
}

// found collects a report.
type found struct {
	report  Report
	settled map[string]Checked
	wrong   map[string]int // problems by check
}

func newFound() *found { return &found{settled: map[string]Checked{}, wrong: map[string]int{}} }

func (f *found) problem(check, where, format string, args ...any) {
	f.report.Problems = append(f.report.Problems, Problem{Check: check, Where: where, Message: fmt.Sprintf(format, args...)})
	f.wrong[check]++
	detail := "1 problem"
	if n := f.wrong[check]; n > 1 {
		detail = fmt.Sprintf("%d problems", n)
	}
	f.settled[check] = Checked{Check: check, Outcome: Wrong, Detail: detail}
}

// setOutcome sets the outcome of a check without problems.
func (f *found) setOutcome(check string, o Outcome, format string, args ...any) {
	if _, ok := f.settled[check]; !ok {
		f.settled[check] = Checked{Check: check, Outcome: o, Detail: fmt.Sprintf(format, args...)}
	}
}

// done returns the report: a check without outcome was not checked.
func (f *found) done() Report {
	f.report.Checks = []Checked{}
	for _, name := range order {
		c, ok := f.settled[name]
		if !ok {
			c = Checked{Check: name, Outcome: NotChecked, Detail: "its input could not be read"}
		}
		f.report.Checks = append(f.report.Checks, c)
	}
	if f.report.Problems == nil {
		f.report.Problems = []Problem{}
	}
	return f.report
}
