package report

import (
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
	out.printf("\n%s  %s of %s\n\n", o.Style.Bold("soak "+s.ID), s.Soaked.Round(time.Second), s.Duration.Duration)
	shown := s.Repetitions
	if most := 10; !o.Verbose && len(shown) > most {
		out.printf("  %d repetitions, the last %d:\n", len(shown), most)
		shown = shown[len(shown)-most:]
	}
	for _, r := range shown {
		out.printf("  %s  %s %8s  %s\n", display.Escape(r.Run), verdict(o.Style, r.Verdict), Took(r.Ended.Sub(r.Began).Seconds()), out.Brief(r.Decided))
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
		if c.Suspect != "" {
			text = c.Suspect + ": " + text
		}
		out.printf("  %s  %s  %s\n", c.At.UTC().Format("2006-01-02 15:04:05"), display.Escape(c.Gate), out.Brief(text))
	}
	if o.Verbose {
		out.printf("\nfigures (least, median, most):\n")
		for _, f := range s.Figures {
			out.printf("  %s %s: %s, %s, %s %s\n", display.Escape(f.Gate), display.Escape(f.Name), number(f.Least), number(f.Median), number(f.Most), display.Escape(f.Unit))
		}
	}
	for _, g := range s.Gaps {
		out.printf("\nno repetition ran %s\n", g)
	}
	out.printf("\nverdict: %s, %s\n", o.Style.State(cmdutil.StateOf(s.Verdict), string(s.Verdict)), display.Escape(s.Reason))
	fmt.Fprint(w, out.text.String())
}
