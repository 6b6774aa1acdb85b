package report

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

//go:embed results.gohtml
var pageTemplate string

// HTML writes the results as one self-contained page.
func (g *Results) HTML(w io.Writer) error {
	t, err := template.New("grid").Funcs(template.FuncMap{
		"letter":  Letter,
		"class":   cssClass,
		"title":   title,
		"day":     func(i int) string { return g.Day(i) },
		"time":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") },
		"at":      func(l Lane, version string, i config.Intent) *Row { return l.at(version, i) },
		"newest":  func(r *Row) string { return r.newest() },
		"without": func(l Lane) string { return l.noCellsReason() },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse the results page: %w", err)
	}
	letterOf := make([]struct{ Letter, Name string }, len(letters))
	for i, l := range letters {
		letterOf[i].Letter, letterOf[i].Name = l.Letter, string(l.Outcome)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		*Results
		Intents  []config.Intent
		Versions func(Lane) []string
		Legend   []struct{ Letter, Name string }
	}{g, g.intents(), Lane.versions, letterOf})
	if err != nil {
		return fmt.Errorf("render the results page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// cssClass returns the CSS class of an outcome.
func cssClass(v any) string {
	outcome := func(o matrix.Outcome) string {
		switch o {
		case matrix.Passed:
			return "passed"
		case matrix.Failed, matrix.TimedOut, matrix.Interrupted:
			return "failed"
		case matrix.Blocked, matrix.NotStarted, matrix.Superseded:
			return "blocked"
		default:
			return "pending"
		}
	}
	switch v := v.(type) {
	case *matrix.Cell:
		if v == nil {
			return "none"
		}
		return outcome(v.Outcome)
	case *Row:
		if v == nil {
			return "none"
		}
		return outcome(v.Newest)
	case string:
		return outcome(matrix.Outcome(v))
	default:
		return "none"
	}
}

// title returns the tooltip of a cell.
func title(c *matrix.Cell) string {
	if c == nil {
		return "not in that night's matrix"
	}
	text := string(c.Outcome)
	if c.Checks > 0 {
		text += fmt.Sprintf(", %d checks", c.Checks)
	}
	if c.Attempts > 1 {
		text += fmt.Sprintf(", attempt %d", c.Attempts)
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	if c.Evidence != "" {
		text += " (" + c.Evidence + ")"
	}
	return text
}
