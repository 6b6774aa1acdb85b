// Package report prints the outcome of a run as text. Without Verbose the text fits a
// screen: verdicts, what decided them, the first findings. Verbose prints every figure and
// finding; so do the reports in the evidence and -o json.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/site"
)

// screen is the most lines of a summary, as long as its table and one finding fit.
const screen = 40

// reasonWidth is the most characters of a reason in a table, and findingWidth of a line of
// a finding.
const (
	reasonWidth  = 140
	findingWidth = 300
)

// Options say how a report is printed.
type Options struct {
	Style   display.Style
	Verbose bool
}

// AddVerboseFlag adds -v.
func AddVerboseFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().BoolP("verbose", "v", false, "print every figure and every finding")
}

// OptionsFor are the options for text that is written to out.
func OptionsFor(out io.Writer, verbose *bool) Options {
	return Options{Style: cmdutil.StyleOf(out), Verbose: *verbose}
}

// Acceptance prints the outcome of accept.
func Acceptance(w io.Writer, r accept.Report, o Options) {
	s := summary{Options: o}
	s.printf("\n%s  site %s, profile %s%s\n\n", o.Style.Bold("run "+display.Escape(r.Run)), display.Escape(r.Site), display.Escape(r.Profile), Hardware(r.Simulated))
	s.printf("  %s  %-12s %-14s %8s  %s\n", "#", "GATE", "VERDICT", "TOOK", "REASON")
	var findings []Finding
	for _, g := range r.Gates {
		reason := s.Brief(g.Reason)
		if g.KeptFrom != "" && g.Verdict != check.Blocked {
			reason += o.Style.Dim(" (kept from run " + display.Escape(g.KeptFrom) + ")")
		}
		s.printf("  %s  %-12s %s %8s  %s\n", gateNumber(g.Gate), display.Escape(g.Gate), verdict(o.Style, g.Verdict), Took(g.Duration), reason)
		for _, f := range g.Figures {
			if o.Verbose {
				s.printf("     %s\n", o.Style.Dim(display.Escape(figure(f))))
			}
		}
		findings = append(findings, findingsOf(g.Verdict, "gate "+g.Gate, g.Findings)...)
	}
	s.end(w, findings, r.Notes, r.Verdict, r.NarrowedBy, "evidence: "+r.Evidence)
}

// Finding is a check.Finding with the verdict and the place that it belongs to.
type Finding struct {
	check.Finding
	Verdict check.Verdict
	At      string
}

func findingsOf(v check.Verdict, at string, list []check.Finding) []Finding {
	out := make([]Finding, len(list))
	for i, f := range list {
		out[i] = Finding{Finding: f, Verdict: v, At: at}
	}
	return out
}

// summary collects the lines of a report.
type summary struct {
	Options
	text strings.Builder
}

func (s *summary) printf(format string, args ...any) { fmt.Fprintf(&s.text, format, args...) }

// Brief is the first line of a reason, cut unless Verbose.
func (o Options) Brief(reason string) string {
	if o.Verbose {
		return display.Escape(firstLine(reason))
	}
	return display.Escape(cut(firstLine(reason), reasonWidth))
}

// end prints what was collected, then findings, notes, the verdict and last lines. Without
// Verbose, if not all of it fits the screen, it prints the first few notes and narrowing reasons,
// and as many findings as the screen has room for, but at least one.
func (s *summary) end(w io.Writer, findings []Finding, notes []string, v check.Verdict, narrowedBy []string, last ...string) {
	const few, linesOfFinding, linesOfNote, linesOfMore, linesOfVerdict = 3, 4, 2, 2, 2
	fit, fitNotes, fitNarrowed := len(findings), len(notes), len(narrowedBy)
	used := strings.Count(s.text.String(), "\n") + linesOfVerdict + len(last)
	if !s.Verbose && used+fit*linesOfFinding+fitNotes*linesOfNote+fitNarrowed > screen {
		if fitNotes > few {
			fitNotes, used = few, used+linesOfMore
		}
		if fitNarrowed > few {
			fitNarrowed, used = few, used+1
		}
		used += fitNotes*linesOfNote + fitNarrowed + linesOfMore // of the findings
		fit = min(fit, max(1, (screen-used)/linesOfFinding))
	}
	for _, f := range findings[:fit] {
		s.finding(f)
	}
	s.more("\n", len(findings)-fit, "finding")
	for _, note := range notes[:fitNotes] {
		s.printf("\nnote: %s\n", display.Escape(s.oneLine(note)))
	}
	s.more("\n", len(notes)-fitNotes, "note")
	word := string(v)
	if len(narrowedBy) > 0 {
		word += ", narrowed"
	}
	s.printf("\n%s: %s\n", s.Style.Bold("verdict"), s.Style.State(cmdutil.StateOf(v), word))
	for _, reason := range narrowedBy[:fitNarrowed] {
		s.printf("  narrowed: %s\n", display.Escape(s.oneLine(reason)))
	}
	s.more("  ", len(narrowedBy)-fitNarrowed, "reason")
	for _, line := range last {
		s.printf("%s\n", display.Escape(line))
	}
	fmt.Fprint(w, s.text.String())
}

// more prints how many items are left out, if any.
func (s *summary) more(before string, n int, noun string) {
	if n > 0 {
		s.printf("%s%s more: -v prints all\n", before, cmdutil.Count(n, noun))
	}
}

// oneLine is the first line of a text, cut unless Verbose.
func (s *summary) oneLine(text string) string {
	if s.Verbose {
		return text
	}
	return cut(firstLine(text), findingWidth)
}

func (s *summary) finding(f Finding) {
	observed, remedy := s.oneLine(display.Escape(f.Message)), s.oneLine(display.Escape(f.Remedy))
	at := ""
	if f.At != "" {
		at = " at " + display.Escape(f.At)
	}
	s.printf("\n%s %s%s\n  found:  %s\n  remedy: %s\n", s.Style.State(cmdutil.StateOf(f.Verdict), "✗"), s.Style.Bold(display.Escape(f.Suspect)), at, indent(observed), indent(remedy))
}

// gateNumber is a gate's number in the playbook, "+" for other checks.
func gateNumber(name string) string {
	if i := slices.Index(site.Gates(), name); i >= 0 {
		return strconv.Itoa(i + 1)
	}
	return "+"
}

// Hardware is the part of a headline that marks hardware that is not known to be real.
func Hardware(h evidence.Hardware) string {
	switch h {
	case evidence.HardwareReal:
		return ""
	case evidence.HardwareSimulated:
		return ", SIMULATED hardware"
	default:
		return ", hardware NOT IDENTIFIED"
	}
}

func figure(f check.Figure) string {
	text := fmt.Sprintf("%-12s %s: %s %s", "", f.Name, number(f.Value), f.Unit)
	if f.Relation != "" {
		text += fmt.Sprintf(" (%s %s)", f.Relation, number(f.Limit))
	}
	return text
}

// number prints four significant digits, whole numbers with all digits.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Took formats a duration in seconds; empty if nothing ran.
func Took(seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	return display.Seconds(time.Duration(seconds * float64(time.Second)))
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ") }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func cut(s string, width int) string {
	text := []rune(s)
	if len(text) <= width {
		return s
	}
	return string(text[:width-1]) + "…"
}

// verdict is a verdict as wide as its column.
func verdict(style display.Style, v check.Verdict) string {
	return style.State(cmdutil.StateOf(v), fmt.Sprintf("%-14s", v))
}
