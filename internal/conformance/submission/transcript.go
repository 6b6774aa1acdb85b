package submission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// The limits of one output, of a check's calls and of a whole transcript, in bytes. The
// run's evidence has the rest, and the transcript has a remark.
const (
	maxOutput     = 32 << 10
	maxCalls      = 256 << 10
	maxTranscript = 1 << 20
)

// transcript renders the evidence of one requirement for a reviewer: the verdict, its
// figures and findings, and every observation as recorded.
func transcript(p catalog.Programme, r catalog.Requirement, run Run, res plan.Result, obs []check.Observation) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n", r.ID, r.Description)
	hardware := "real"
	switch run.Simulated {
	case evidence.HardwareReal:
	case evidence.HardwareSimulated:
		hardware = simulatedHardware + ": " + run.SimulatedWhy
	default:
		hardware = unknownHardware
	}
	for _, row := range [][2]string{
		{"requirement", fmt.Sprintf("%s (%s), CNCF AI Conformance %s", r.ID, r.Level, p.Version)},
		{"verdict", fmt.Sprintf("%s: %s", res.Verdict, res.Reason)},
		{"run", run.ID},
		{"kept from run", res.KeptFrom},
		{"cluster", run.Cluster},
		{"kubernetes", run.Kubernetes},
		{hardwareKey, hardware},
		{"firstlight", run.Tool},
		{"from", stamp(res.Started)},
		{"to", stamp(res.Finished)},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", row[0], oneLine(row[1]))
		}
	}
	figures(&b, res.Figures)
	findings(&b, res.Findings)
	calls, others := check.OfKind(obs, apilog.Kind), slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Kind == apilog.Kind })
	section(&b, "API calls", calls)
	section(&b, "Observations", others)
	return b.Bytes()
}

// section renders observations under a heading. API calls come first, so that the limit of
// the transcript never truncates them.
func section(b *bytes.Buffer, heading string, obs []check.Observation) {
	if len(obs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", heading)
	for i, o := range obs {
		observed(b, i+1, o)
	}
}

func figures(b *bytes.Buffer, all []check.Figure) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Figures\n\n")
	for _, f := range all {
		fmt.Fprintf(b, "- %s: %g %s", f.Name, f.Value, f.Unit)
		if f.Relation != "" {
			fmt.Fprintf(b, " (%s %g)", f.Relation, f.Limit)
		}
		b.WriteByte('\n')
	}
}

func findings(b *bytes.Buffer, all []check.Finding) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Findings\n\n")
	for _, f := range all {
		fmt.Fprintf(b, "- %s: %s. Next: %s\n", oneLine(f.Suspect), oneLine(f.Message), oneLine(f.Remedy))
	}
}

func observed(b *bytes.Buffer, number int, o check.Observation) {
	fmt.Fprintf(b, "\n### %d. %s of %s\n\n", number, oneLine(o.Kind), oneLine(o.Target))
	fmt.Fprintf(b, "- observation: %s\n- at: %s, for %s\n", o.ID, stamp(o.At), o.Took.Duration)
	if o.Command != "" {
		fmt.Fprintf(b, "- command: %s\n", oneLine(o.Command))
	}
	if o.Exit != nil {
		fmt.Fprintf(b, "- exit: %d\n", *o.Exit)
	}
	if o.Err != "" {
		fmt.Fprintf(b, "- error: %s\n", oneLine(o.Err))
	}
	if b.Len() > maxTranscript {
		fmt.Fprintf(b, "- output: only in the run's evidence\n")
		return
	}
	if o.Kind == apilog.Kind {
		if made, err := check.Decode[[]apilog.Call](o); err == nil {
			fence(b, "", callLines(made), maxCalls)
			return
		}
	}
	if len(o.Figures) > 0 {
		var indented bytes.Buffer
		if json.Indent(&indented, o.Figures, "", "  ") != nil {
			indented.Reset()
			indented.Write(o.Figures)
		}
		fence(b, "json", indented.Bytes(), maxOutput)
	}
	if len(o.Raw) > 0 {
		fence(b, "", o.Raw, maxOutput)
	}
}

// callLines renders one call on each line.
func callLines(made []apilog.Call) []byte {
	var b bytes.Buffer
	for _, c := range made {
		path := c.Path
		if c.Query != "" {
			path += "?" + c.Query
		}
		fmt.Fprintf(&b, "%s %s %s", c.At.UTC().Format("15:04:05.000"), c.Method, path)
		if c.Err != "" {
			fmt.Fprintf(&b, ": %s", oneLine(c.Err))
		} else {
			fmt.Fprintf(&b, ": %d", c.Status)
		}
		if c.Times > 1 {
			fmt.Fprintf(&b, ", %d times", c.Times)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// fence renders at most limit bytes of content as a code block with a fence that the
// content cannot close.
func fence(b *bytes.Buffer, language string, content []byte, limit int) {
	text, more := content, 0
	if len(text) > limit {
		text, more = text[:limit], len(text)-limit
	}
	shown := strings.TrimRight(strings.ToValidUTF8(string(text), "?"), "\n")
	ticks := "```"
	for strings.Contains(shown, ticks) {
		ticks += "`"
	}
	fmt.Fprintf(b, "\n%s%s\n%s\n%s\n", ticks, language, shown, ticks)
	if more > 0 {
		fmt.Fprintf(b, "\nTruncated: the run's evidence has %d more bytes.\n", more)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
