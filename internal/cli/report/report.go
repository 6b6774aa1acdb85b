package report

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/site"
)

func colourOf(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// printReport shows a walk's outcome: the verdict table, then every finding.
func printReport(w io.Writer, r accept.Report, style display.Style) {
	fmt.Fprintf(w, "\n%s  site %s, profile %s%s\n\n", style.Bold("run "+display.Escape(r.Run)), display.Escape(r.Site), display.Escape(r.Profile), simulated(r))
	fmt.Fprintf(w, "  %s  %-12s %-14s %8s  %s\n", "#", "GATE", "VERDICT", "TOOK", "OBSERVED")
	for _, g := range r.Gates {
		state := stateOf(g.Verdict)
		took := ""
		if g.Duration > 0 {
			took = display.Seconds(time.Duration(g.Duration * float64(time.Second)))
		}
		reason, name := display.Escape(g.Reason), display.Escape(g.Gate)
		if g.KeptFrom != "" && g.Verdict != check.Blocked {
			reason += style.Dim(" (kept from run " + display.Escape(g.KeptFrom) + ")")
		}
		fmt.Fprintf(w, "  %s  %-12s %s %8s  %s\n", gateNumber(g.Gate), name, style.State(state, fmt.Sprintf("%-14s", g.Verdict)), took, firstLine(reason))
		for _, f := range g.Figures {
			fmt.Fprintf(w, "     %s\n", style.Dim(display.Escape(figure(f))))
		}
	}
	printFindings(w, r, style)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "\nnote: %s\n", display.Escape(note))
	}
	printVerdict(w, r.Verdict, r.NarrowedBy, style)
	fmt.Fprintf(w, "evidence: %s\n", display.Escape(r.Evidence))
}

// printVerdict is a run's last word: the verdict, which alone is of the whole playbook on this
// cluster, and what it is narrowed by where it is not.
func printVerdict(w io.Writer, v check.Verdict, narrowedBy []string, style display.Style) {
	word := string(v)
	if len(narrowedBy) > 0 {
		word += ", narrowed"
	}
	fmt.Fprintf(w, "\n%s: %s\n", style.Bold("verdict"), style.State(stateOf(v), word))
	for _, reason := range narrowedBy {
		fmt.Fprintf(w, "  narrowed: %s\n", display.Escape(reason))
	}
}

// gateNumber is a gate's place in the playbook; what is no gate has none.
func gateNumber(name string) string {
	if i := slices.Index(site.Gates(), name); i >= 0 {
		return strconv.Itoa(i + 1)
	}
	return "+"
}

func simulated(r accept.Report) string {
	if r.Simulated {
		return ", SIMULATED hardware"
	}
	return ""
}

func figure(f check.Figure) string {
	text := fmt.Sprintf("%-12s %s: %s %s", "", f.Name, number(f.Value), f.Unit)
	if f.Relation != "" {
		text += fmt.Sprintf(" (%s %s)", f.Relation, number(f.Limit))
	}
	return text
}

// number prints four significant digits, and whole numbers whole.
func number(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func printFindings(w io.Writer, r accept.Report, style display.Style) {
	for _, g := range r.Gates {
		for _, f := range g.Findings {
			fmt.Fprintf(w, "\n%s %s at gate %s\n  seen: %s\n  next: %s\n", style.State(stateOf(g.Verdict), "✗"), style.Bold(display.Escape(f.Suspect)), display.Escape(g.Gate),
				indent(display.Escape(f.Message)), indent(display.Escape(f.Remedy)))
		}
	}
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n        ") }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
