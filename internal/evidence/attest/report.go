package attest

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

// The names of what Verify checks, in its order.
const (
	CheckArchive      = "archive"      // the archive is whole and holds nothing odd
	CheckEnvelope     = "envelope"     // one DSSE envelope of the right type
	CheckSignature    = "signature"    // by a key that was given
	CheckSchema       = "schema"       // the statement is one
	CheckManifest     = "manifest"     // the manifest is as written, and the statement's
	CheckFiles        = "files"        // every file is as the manifest says
	CheckSubject      = "subject"      // the statement is about this run
	CheckStatement    = "statement"    // it says what the run says
	CheckCompleteness = "completeness" // every planned step is accounted for
	CheckPlan         = "plan"         // the plan is the one that the run's inputs make
	CheckClaims       = "claims"       // what the run says of itself is what was observed
	CheckVerdicts     = "verdicts"     // verdicts.json says what the journal says
	CheckReplay       = "replay"       // every verdict is reached again
	CheckExpected     = "expected"     // it is the run that the verifier expects
)

// order is that of a Report's checks.
var order = []string{
	CheckArchive, CheckEnvelope, CheckSignature, CheckSchema, CheckManifest, CheckFiles, CheckSubject, CheckStatement,
	CheckCompleteness, CheckPlan, CheckClaims, CheckVerdicts, CheckReplay, CheckExpected,
}

// Outcome is what became of one check.
type Outcome string

// The outcomes.
const (
	OK     Outcome = "ok"
	Wrong  Outcome = "failed"
	Unseen Outcome = "not checked" // and why is in the detail; never a pass
	None   Outcome = "not wanted"  // as the caller said
)

// Checked is one check of a Report.
type Checked struct {
	Check   string  `json:"check"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail,omitempty"`
}

// Problem is one thing that was found.
type Problem struct {
	Check string `json:"check"`
	// Where is a file, or a place in the statement.
	Where   string `json:"where,omitempty"`
	Message string `json:"message"`
}

// String is the problem as a line.
func (p Problem) String() string {
	if p.Where == "" {
		return p.Check + ": " + p.Message
	}
	return p.Check + ": " + p.Where + ": " + p.Message
}

// Report is what Verify found.
type Report struct {
	Run string `json:"run,omitempty"`
	// State and CompleteUpTo say how far the run came, Missing what lacks a verdict.
	State        State         `json:"state,omitempty"`
	CompleteUpTo string        `json:"completeUpTo,omitempty"`
	Missing      []string      `json:"missing,omitempty"`
	Verdict      check.Verdict `json:"verdict,omitempty"`
	// NarrowedBy are the reasons why the verdict is not of the whole plan, looked at in one go.
	NarrowedBy []string `json:"narrowedBy,omitempty"`
	Simulated  bool     `json:"simulated"`
	// Claims are what the run says of itself, and on what that rests.
	Claims []evidence.Claim `json:"claims,omitempty"`
	// Manifest is the digest that stands for the run.
	Manifest string `json:"manifest,omitempty"`
	// SignedBy is the key that the signature was verified with.
	SignedBy string             `json:"signedBy,omitempty"`
	Checks   []Checked          `json:"checks"`
	Problems []Problem          `json:"problems"`
	Replayed *evidence.Replayed `json:"-"`
}

// Outcome is the whole: Wrong when there is any problem, Unseen when something
// wanted could not be checked.
func (r Report) Outcome() Outcome {
	if len(r.Problems) > 0 {
		return Wrong
	}
	if len(r.Checks) == 0 {
		return Unseen
	}
	for _, c := range r.Checks {
		if c.Outcome != OK && c.Outcome != None {
			return Unseen
		}
	}
	return OK
}

// Unchecked are the checks that were wanted and could not be made.
func (r Report) Unchecked() []string {
	var names []string
	for _, c := range r.Checks {
		if c.Outcome == Unseen {
			names = append(names, c.Check)
		}
	}
	return names
}

// String is a line a problem.
func (r Report) String() string {
	lines := make([]string, len(r.Problems))
	for i, p := range r.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Progress says how far the run came, for people.
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

// settle says what became of a check in which no problem was found.
func (f *found) settle(check string, o Outcome, format string, args ...any) {
	if _, ok := f.settled[check]; !ok {
		f.settled[check] = Checked{Check: check, Outcome: o, Detail: fmt.Sprintf(format, args...)}
	}
}

// done is the report: a check that nobody settled was not checked.
func (f *found) done() Report {
	f.report.Checks = []Checked{}
	for _, name := range order {
		c, ok := f.settled[name]
		if !ok {
			c = Checked{Check: name, Outcome: Unseen, Detail: "what it needs could not be read"}
		}
		f.report.Checks = append(f.report.Checks, c)
	}
	if f.report.Problems == nil {
		f.report.Problems = []Problem{}
	}
	return f.report
}
