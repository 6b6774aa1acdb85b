package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/display"
)

// hostile is text that others wrote: it clears the screen and paints a verdict.
const hostile = "gpu\x1b[2J\x1b]0;x\x07\x1b[32mpassed\x1b[0m\u009b1m"

// A suspect, a reason or a note of a bundle, and the purpose of a lease, commanded the
// terminal of whoever looked at them.
func TestWhatOthersWroteDoesNotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	report := accept.Report{
		Run: hostile, Site: hostile, Profile: hostile, Notes: []string{hostile}, Evidence: hostile, Verdict: check.Failed,
		Gates: []accept.Gate{{Gate: hostile, Verdict: check.Failed, Reason: hostile, KeptFrom: hostile,
			Findings: []check.Finding{{Suspect: hostile, Message: hostile, Remedy: hostile}}}},
	}
	for name, colour := range map[string]bool{"terminal": true, "pipe": false} {
		var out bytes.Buffer
		printReport(&out, report, display.Style{Color: colour})
		if text := out.String(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b]") || strings.Contains(text, "\u009b") || strings.Contains(text, "\x1b[32mpassed") {
			t.Errorf("%s: %q", name, text)
		}
	}
	for _, o := range []format{"text", "json", "yaml"} {
		var out bytes.Buffer
		if err := o.write(&out, report, func(w io.Writer) error {
			_, err := io.WriteString(w, hostile)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\u009b") || !strings.Contains(out.String(), "passed") {
			t.Errorf("%s: %q", o, out.String())
		}
	}
	var errs bytes.Buffer
	printError(&errs, errors.New("cannot read "+hostile+"\nsecond line"))
	if strings.ContainsAny(errs.String(), "\x1b\x07\u009b") || strings.Count(errs.String(), "firstlight: ") != 2 {
		t.Errorf("error: %q", errs.String())
	}
}
