package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
)

// hostile clears the screen and paints a verdict.
const hostile = "gpu\x1b[2J\x1b]0;x\x07\x1b[32mpassed\x1b[0m\u009b1m"

// A suspect, a reason, a note or a purpose may come from others. Control characters in it
// must not reach the terminal.
func TestControlCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	report := accept.Report{
		Run: hostile, Site: hostile, Profile: hostile, Notes: []string{hostile}, Evidence: hostile, Verdict: check.Failed,
		Gates: []accept.Gate{{Gate: hostile, Verdict: check.Failed, Reason: hostile, KeptFrom: hostile,
			Findings: []check.Finding{{Suspect: hostile, Message: hostile, Remedy: hostile}}}},
	}
	for name, colour := range map[string]bool{"terminal": true, "pipe": false} {
		var out bytes.Buffer
		Acceptance(&out, report, Options{Style: display.Style{Color: colour}})
		if text := out.String(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b]") || strings.Contains(text, "\u009b") || strings.Contains(text, "\x1b[32mpassed") {
			t.Errorf("%s: %q", name, text)
		}
	}
	for _, format := range []string{"text", "json", "yaml"} {
		var out bytes.Buffer
		o := cmdutil.AddOutputFlag(&cobra.Command{})
		if err := errors.Join(o.Set(format), o.Write(&out, report, func(w io.Writer) { fmt.Fprint(w, hostile) })); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\x1b\x07\u009b") || !strings.Contains(out.String(), "passed") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
	var errs bytes.Buffer
	cmdutil.PrintError(&errs, errors.New("cannot read "+hostile+"\nsecond line"))
	if strings.ContainsAny(errs.String(), "\x1b\x07\u009b") || strings.Count(errs.String(), "firstlight: ") != 2 {
		t.Errorf("error: %q", errs.String())
	}
}
