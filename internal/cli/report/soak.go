package report

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/soak"
)

// Soak prints the summary of repeated acceptances.
func Soak(w io.Writer, s soak.Summary, o Options) {
	out := summary{Options: o}
	hardware := ""
	if n := len(s.Repetitions); n > 0 {
		hardware = Hardware(s.Repetitions[n-1].Simulated)
	}
	out.printf("\n%s  %s, repetitions ran for %s%s\n\n", o.Style.Bold("soak "+s.ID), s.Duration.Duration, s.Covered.Round(time.Second), hardware)
	shown := s.Repetitions
	if most := 10; !o.Verbose && len(shown) > most {
		out.printf("  %d repetitions, the last %d:\n", len(shown), most)
		shown = shown[len(shown)-most:]
	}
	for _, r := range shown {
		out.printf("  %-20s  %s %8s  %s\n", display.Escape(cmp.Or(r.Run, "no run")), verdict(o.Style, r.Verdict), Took(r.Finished.Sub(r.Started).Seconds()), out.Brief(decided(r)))
	}
	if len(s.Changes) > 0 {
		out.printf("\nchanges:\n")
	}
	changed := s.Changes
	if most := 12; !o.Verbose && len(changed) > most {
		out.printf("  %d changes, the last %d (-v prints all):\n", len(changed), most)
		changed = changed[len(changed)-most:]
	}
	for _, c := range changed {
		text := c.Text
		switch {
		case c.Gone:
			text = c.Suspect + ": gone: " + text
		case c.Suspect != "":
			text = c.Suspect + ": " + text
		}
		out.printf("  %s  %s  %s\n", c.At.UTC().Format("2006-01-02 15:04:05"), display.Escape(c.Gate), out.Brief(text))
	}
	if o.Verbose && len(s.Figures) > 0 {
		out.printf("\nfigures (min, median, max):\n")
		for _, f := range s.Figures {
			out.printf("  %s %s: %s, %s, %s %s\n", display.Escape(f.Gate), display.Escape(f.Name), number(f.Min), number(f.Median), number(f.Max), display.Escape(f.Unit))
		}
	}
	if len(s.Gaps) > 0 {
		out.printf("\n")
	}
	for _, g := range s.Gaps {
		out.printf("no repetition ran %s\n", g)
	}
	out.printf("\nverdict: %s, %s\n", o.Style.State(cmdutil.StateOf(s.Verdict), string(s.Verdict)), display.Escape(s.Reason))
	fmt.Fprint(w, out.text.String())
}

// decided is what decided a repetition.
func decided(r soak.Repetition) string {
	switch {
	case r.Interrupted && r.Decided == "":
		return "interrupted"
	case r.Interrupted:
		return "interrupted; " + r.Decided
	case r.Decided == "" && len(r.NarrowedBy) > 0:
		return "narrowed: " + r.NarrowedBy[0]
	default:
		return r.Decided
	}
}
