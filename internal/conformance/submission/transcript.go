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
	"github.com/firstlight/firstlight/internal/plan"
)

// What a transcript holds of one output, of a check's calls, and in all, in bytes;
// what is more stays in the run's evidence, and the transcript says so.
const (
	maxOutput     = 32 << 10
	maxCalls      = 256 << 10
	maxTranscript = 1 << 20
)

// transcript is the evidence of one requirement for people: the verdict, what was
// held against what, and every observation it was reached from, as recorded.
func transcript(p catalog.Programme, r catalog.Requirement, run Run, res plan.Result, obs []check.Observation) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n", r.ID, r.Description)
	hardware := "real"
	if run.Simulated {
		hardware = simulatedHardware + ": " + run.SimulatedWhy
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
	made, seen := check.OfKind(obs, apilog.Kind), slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Kind == apilog.Kind })
	section(&b, "called", made)
	section(&b, "seen", seen)
	return b.Bytes()
}

// section has the observations of one sort. Calls come first, so that what was seen
// takes no room from them.
func section(b *bytes.Buffer, sort string, obs []check.Observation) {
	if len(obs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## What was %s\n", sort)
	for i, o := range obs {
		observed(b, i+1, o)
	}
}

func figures(b *bytes.Buffer, all []check.Figure) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## What was held against what\n\n")
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
	b.WriteString("\n## What was found\n\n")
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
		fmt.Fprintf(b, "- could not be seen: %s\n", oneLine(o.Err))
	}
	if b.Len() > maxTranscript {
		fmt.Fprintf(b, "- what it returned is in the run's evidence\n")
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

// callLines has a call a line.
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

// fence is a block that its content can't end, of at most limit bytes of it.
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
		fmt.Fprintf(b, "\n%d bytes more are in the run's evidence.\n", more)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
