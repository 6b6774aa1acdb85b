package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// WriteText writes one problem a line, followed by its remedy, and a summary.
func (r Report) WriteText(w io.Writer) error {
	for _, p := range r.Problems {
		fmt.Fprintln(w, p)
		if p.Remedy != "" {
			fmt.Fprintf(w, "    %s\n", p.Remedy)
		}
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s, %s; %s, %s, %s\n", r.Tree,
		count(r.Overlays, "overlay"), count(r.Recipes, "recipe"), count(r.Components, "component"),
		count(r.Errors, "error"), count(r.Warnings, "warning"), count(r.Notes, "note"))
	return err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WriteGitHub writes each problem as a workflow command, which GitHub shows as an annotation.
func (r Report) WriteGitHub(w io.Writer) error {
	for _, p := range r.Problems {
		properties := "file=" + property(p.File)
		if p.Line > 0 {
			properties += fmt.Sprintf(",line=%d,col=%d", p.Line, max(1, p.Column))
		}
		message := p.Message
		if p.Remedy != "" {
			message += "\n" + p.Remedy
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", command(p.Severity), properties, property(p.Rule), data(message)); err != nil {
			return err
		}
	}
	return nil
}

func command(s diag.Severity) string {
	if s == diag.Note {
		return "notice"
	}
	return string(s)
}

// data and property escape special characters of workflow commands.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
