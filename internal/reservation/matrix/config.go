package matrix

import (
	"slices"
	"strconv"
	"time"
	"unicode"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Config is what one batch.yaml holds. It comes from Parse or Load.
type Config struct {
	// Previous is how many stable releases are run, the newest.
	Previous int `json:"previous"`
	// Main says that the main branch is run.
	Main bool `json:"main"`
	// CellLimit is the longest that a cell may take; Teardown is the part of it that is
	// kept for taking down what it stood up.
	CellLimit time.Duration `json:"cellLimit"`
	Teardown  time.Duration `json:"teardownLimit"`
	// Releases says where the tags come from.
	Releases Releases `json:"releases,omitzero"`
	// Compat is the file of the floors, relative to this one; empty: nothing is held back.
	Compat string `json:"compat,omitempty"`
}

// Releases is where tags come from, one a line: a command's standard output, or a file.
// At most one of them is set.
type Releases struct {
	Command []string `json:"command,omitempty"`
	File    string   `json:"file,omitempty"`
}

// Work is how long a cell may take before it is taken down.
func (c *Config) WorkTimeout() time.Duration { return c.CellLimit - c.Teardown }

// file is batch.yaml.
type file struct {
	Previous  *int          `yaml:"previous"`
	Main      *bool         `yaml:"main"`
	CellLimit string        `yaml:"cell-limit"`
	Teardown  string        `yaml:"teardown-limit"`
	Releases  *fileReleases `yaml:"releases"`
	Compat    *string       `yaml:"compat"`
}

type fileReleases struct {
	Command []string `yaml:"command"`
	File    *string  `yaml:"file"`
}

const (
	// mostPrevious is more than a night has room for.
	mostPrevious = 10
	leastLimit   = time.Second
	mostLimit    = 24 * time.Hour
	mostText     = 4096
)

// Load is Parse of a file.
func Load(path string) (*Config, error) {
	data, err := config.ReadFile(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return Parse(path, data)
}

// Parse reads what a batch runs and validates it; name is for messages. Its error is a
// diag.List: everything that is wrong, each with its place and what to do.
func Parse(name string, data []byte) (*Config, error) {
	var f file
	doc, problems := config.DecodeYAML(name, data, &f)
	if doc == nil {
		return nil, problems.Sort().Err()
	}
	l := loader{doc: doc}
	c := l.config(&f)
	if err := config.MergeProblems(problems, l.problems).Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// loader makes a Config of a file, and collects what is wrong with it.
type loader struct {
	doc      *yamlstrict.Doc
	problems diag.List
}

func (l *loader) add(r diag.Rule, path []string, format string, args ...any) {
	l.problems = append(l.problems, r.At(l.doc.ValueAt(path...), format, args...))
}

func (l *loader) config(f *file) *Config {
	c := &Config{}
	for _, k := range []struct {
		key   string
		there bool
	}{
		{"previous", f.Previous != nil}, {"main", f.Main != nil},
		{"cell-limit", f.CellLimit != ""}, {"teardown-limit", f.Teardown != ""},
	} {
		if !k.there {
			l.add(ruleMissing, []string{k.key}, "the key %q is missing or empty", k.key)
		}
	}
	if f.Main != nil {
		c.Main = *f.Main
	}
	l.previous(f, c)
	c.CellLimit = l.duration("cell-limit", f.CellLimit)
	c.Teardown = l.duration("teardown-limit", f.Teardown)
	if c.CellLimit > 0 && c.Teardown >= c.CellLimit {
		l.add(ruleLimit, []string{"teardown-limit"}, "teardown-limit %s leaves nothing of cell-limit %s for the cell", f.Teardown, f.CellLimit)
	}
	if f.Compat != nil {
		c.Compat = *f.Compat
		l.path([]string{"compat"}, c.Compat)
	}
	return c
}

func (l *loader) previous(f *file, c *Config) {
	if f.Releases != nil {
		l.releases(f.Releases, c)
	}
	if f.Previous == nil {
		return
	}
	c.Previous = *f.Previous
	switch {
	case c.Previous < 0 || c.Previous > mostPrevious:
		l.add(rulePrevious, []string{"previous"}, "previous is %d: it has to be from 0 to %d", c.Previous, mostPrevious)
	case c.Previous == 0 && f.Main != nil && !c.Main:
		l.add(ruleNothing, []string{"main"}, "neither the main branch nor a release is run")
	case c.Previous > 0 && f.Releases == nil:
		l.add(ruleReleases, []string{"releases"}, "previous is %d, and releases does not say where they come from", c.Previous)
	}
}

func (l *loader) releases(f *fileReleases, c *Config) {
	switch command, isFile := len(f.Command) > 0, f.File != nil; {
	case command && isFile:
		l.add(ruleReleases, []string{"releases"}, "releases come from a command and from a file")
	case !command && !isFile:
		l.add(ruleReleases, []string{"releases"}, "releases has neither a command nor a file")
	}
	c.Releases.Command = slices.Clone(f.Command)
	for i, word := range f.Command {
		if word == "" && i == 0 || !plain(word) {
			l.add(ruleText, []string{"releases", "command", strconv.Itoa(i)}, "%.80q is no word of a command", word)
		}
	}
	if f.File != nil {
		c.Releases.File = *f.File
		l.path([]string{"releases", "file"}, c.Releases.File)
	}
}

func (l *loader) path(at []string, path string) {
	if path == "" || !plain(path) {
		l.add(ruleText, at, "%.80q is no path of a file", path)
	}
}

// plain is text without control characters, of a length that makes sense.
func plain(text string) bool {
	return len(text) <= mostText && !slices.ContainsFunc([]rune(text), unicode.IsControl)
}

func (l *loader) duration(key, text string) time.Duration {
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		l.add(ruleLimit, []string{key}, "%s: %q is no duration", key, text)
	case d < leastLimit || d > mostLimit:
		l.add(ruleLimit, []string{key}, "%s: %s can't be: it has to be from %s to %s", key, text, "1s", "24h")
	}
	return d
}
