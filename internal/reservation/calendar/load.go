package calendar

import (
	"regexp"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

type file struct {
	Zone    string       `yaml:"zone"`
	Entries []fileEntry  `yaml:"entries"`
	Margins []fileMargin `yaml:"margins"`
}

type fileEntry struct {
	Name   string `yaml:"name" need:"true"`
	Action string `yaml:"action" need:"true" enum:"up,down,batch"`
	Cron   string `yaml:"cron" need:"true"`
	Zone   string `yaml:"zone"`
	Window string `yaml:"window" need:"true"`
}

type fileMargin struct {
	From        string `yaml:"from" need:"true"`
	To          string `yaml:"to" need:"true"`
	AtLeast     string `yaml:"at-least" need:"true"`
	CountedFrom string `yaml:"counted-from" enum:"start,end"`
}

const (
	maxName     = 63
	maxDuration = 7 * 24 * time.Hour
)

var namePattern = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)

// Parse parses and validates a schedule; name is used in messages. The error is a diag.List with
// all problems, each with position and remedy. Check verifies the margins.
func Parse(name string, data []byte) (*Schedule, error) {
	return config.Parse(name, data, func(c *config.Loader, f *file) *Schedule {
		l := loader{c}
		return &Schedule{entries: l.entries(f), margins: l.margins(f)}
	})
}

// loader builds a Schedule and collects problems.
type loader struct{ *config.Loader }

func (l *loader) entries(f *file) []Entry {
	if len(f.Entries) == 0 {
		l.Add(ruleEmpty, []string{"entries"}, "no entries")
	}
	out := make([]Entry, len(f.Entries))
	up, down := -1, -1
	names := map[string]bool{}
	for i, e := range f.Entries {
		path := func(key string) []string { return []string{"entries", strconv.Itoa(i), key} }
		out[i] = l.entry(e, f.Zone, path)
		if e.Name != "" && names[e.Name] {
			l.Add(ruleTwice, path("name"), "duplicate entry %q", e.Name)
		}
		names[e.Name] = true
		switch out[i].Action {
		case Up:
			up = max(up, i)
		case Down:
			down = i
		default:
		}
	}
	if up >= 0 && down < 0 {
		l.Add(ruleNoDown, []string{"entries", strconv.Itoa(up), "action"}, "%s starts deployments, but no entry ends them", f.Entries[up].Name)
	}
	return out
}

func (l *loader) entry(e fileEntry, zone string, path func(string) []string) Entry {
	out := Entry{Name: e.Name, Action: Action(e.Action), Cron: e.Cron, Zone: e.Zone, pos: l.Doc.At(path("name")...)}
	if e.Name != "" && (len(e.Name) > maxName || !namePattern.MatchString(e.Name)) {
		l.Add(ruleName, path("name"), "invalid name %q: must be a DNS label", e.Name)
	}
	if e.Cron != "" {
		var err error
		if out.fields, err = parseCron(e.Cron); err != nil {
			l.Add(ruleCron, path("cron"), "invalid cron expression %q: %v", e.Cron, err)
		}
	}
	at := path("zone")
	if e.Zone == "" {
		out.Zone, at = zone, []string{"zone"}
	}
	var err error
	switch out.zone, err = loadZone(out.Zone); {
	case out.Zone == "":
		l.Problems = append(l.Problems, ruleMissing.At(l.Doc.ValueAt(path("zone")...), "the entry has no zone, and the file has no default").
			With("add zone: UTC, or another zone, to the entry or to the top of the file"))
	case err != nil:
		l.Add(ruleZone, at, "invalid time zone %q: %v", out.Zone, err)
	}
	if e.Window != "" {
		out.Window.Duration = l.duration(path("window"), e.Window, time.Second)
	}
	return out
}

// duration parses a duration of at least least.
func (l *loader) duration(path []string, text string, least time.Duration) time.Duration {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		l.Add(ruleDuration, path, "invalid duration %q", text)
	case d < least || d > maxDuration:
		l.Add(ruleDuration, path, "invalid duration %s: must be from %s to %s", text, FormatDuration(least), FormatDuration(maxDuration))
	}
	return d
}
