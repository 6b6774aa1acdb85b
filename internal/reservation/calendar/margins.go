package calendar

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

func (l *loader) margins(f *file) []Margin {
	if len(f.Margins) == 0 {
		l.Add(ruleEmpty, []string{"margins"}, "no margins")
	}
	names := make([]string, len(f.Entries))
	for i, e := range f.Entries {
		names[i] = e.Name
	}
	out := make([]Margin, len(f.Margins))
	for i, m := range f.Margins {
		path := func(key string) []string { return []string{"margins", strconv.Itoa(i), key} }
		out[i] = l.margin(m, names, path)
		same := func(o Margin) bool {
			return o.From == out[i].From && o.To == out[i].To && o.FromStart == out[i].FromStart
		}
		if m.From != "" && slices.ContainsFunc(out[:i], same) {
			l.Add(ruleTwice, path("from"), "duplicate margin from %s to %s, counted alike", m.From, m.To)
		}
	}
	return out
}

func (l *loader) margin(m fileMargin, names []string, path func(string) []string) Margin {
	out := Margin{From: m.From, To: m.To, FromStart: m.CountedFrom == "start", pos: l.Doc.At(path("from")...)}
	for _, k := range []struct{ key, name string }{{"from", m.From}, {"to", m.To}} {
		if k.name == "" || slices.Contains(names, k.name) {
			continue
		}
		p := ruleUnknownEntry.At(l.Doc.ValueAt(path(k.key)...), "unknown entry %q", k.name)
		if near := diag.Nearest(k.name, names); near != "" {
			p = p.With("did you mean %q?", near)
		}
		l.Problems = append(l.Problems, p)
	}
	if m.AtLeast != "" {
		out.AtLeast = l.duration(path("at-least"), m.AtLeast, 0)
	}
	return out
}

// FormatDuration omits zero units: 2h, 5h50m, -30m, 0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
