package matrix

import (
	"slices"
	"strconv"
	"time"
	"unicode"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Config is the content of batch.yaml.
type Config struct {
	// Previous is the number of stable releases to run, newest first.
	Previous int
	// Main: the main branch runs too.
	Main bool
	// CellLimit is the longest duration of a cell; Teardown is the part of it that is reserved for
	// the teardown.
	CellLimit time.Duration
	Teardown  time.Duration
	Releases  Releases
	// Compat is the path of compat.yaml, relative to this file; empty: nothing is held back.
	Compat string
}

// Releases is the source of the tags, one per line: the standard output of a command, or a file.
// At most one is set.
type Releases struct {
	Command []string
	File    string
}

// WorkTimeout is the longest duration of a cell before its teardown.
func (c *Config) WorkTimeout() time.Duration { return c.CellLimit - c.Teardown }

type file struct {
	Previous  *int          `yaml:"previous" need:"true"`
	Main      *bool         `yaml:"main" need:"true"`
	CellLimit string        `yaml:"cell-limit" need:"true"`
	Teardown  string        `yaml:"teardown-limit" need:"true"`
	Releases  *fileReleases `yaml:"releases"`
	Compat    *string       `yaml:"compat"`
}

type fileReleases struct {
	Command []string `yaml:"command"`
	File    *string  `yaml:"file"`
}

const (
	// mostPrevious is more than a night has time for.
	mostPrevious = 10
	leastLimit   = time.Second
	mostLimit    = 24 * time.Hour
	mostText     = 4096
)

// Parse parses and validates batch.yaml; name is used in messages. The error is a diag.List with
// all problems, each with position and remedy.
func Parse(name string, data []byte) (*Config, error) {
	return config.Parse(name, data, func(c *config.Loader, f *file) *Config { return (&loader{c}).config(f) })
}

// loader builds a Config and collects problems.
type loader struct{ *config.Loader }

func (l *loader) config(f *file) *Config {
	c := &Config{}
	if f.Main != nil {
		c.Main = *f.Main
	}
	l.previous(f, c)
	c.CellLimit = l.duration("cell-limit", f.CellLimit)
	c.Teardown = l.duration("teardown-limit", f.Teardown)
	if c.CellLimit > 0 && c.Teardown >= c.CellLimit {
		l.Add(ruleLimit, []string{"teardown-limit"}, "teardown-limit %s leaves no time of cell-limit %s for the cell", f.Teardown, f.CellLimit)
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
		l.Add(rulePrevious, []string{"previous"}, "invalid previous %d: must be from 0 to %d", c.Previous, mostPrevious)
	case c.Previous == 0 && f.Main != nil && !c.Main:
		l.Add(ruleNothing, []string{"main"}, "neither the main branch nor a release is selected")
	case c.Previous > 0 && f.Releases == nil:
		l.Add(ruleReleases, []string{"releases"}, "previous is %d, but releases is not set", c.Previous)
	}
}

func (l *loader) releases(f *fileReleases, c *Config) {
	switch command, isFile := len(f.Command) > 0, f.File != nil; {
	case command && isFile:
		l.Add(ruleReleases, []string{"releases"}, "releases has both a command and a file")
	case !command && !isFile:
		l.Add(ruleReleases, []string{"releases"}, "releases has neither a command nor a file")
	}
	c.Releases.Command = slices.Clone(f.Command)
	for i, word := range f.Command {
		if word == "" && i == 0 || !plain(word) {
			l.Add(ruleText, []string{"releases", "command", strconv.Itoa(i)}, "invalid word of a command %.80q", word)
		}
	}
	if f.File != nil {
		c.Releases.File = *f.File
		l.path([]string{"releases", "file"}, c.Releases.File)
	}
}

func (l *loader) path(at []string, path string) {
	if path == "" || !plain(path) {
		l.Add(ruleText, at, "invalid path %.80q", path)
	}
}

// plain reports text without control characters and of a reasonable length.
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
		l.Add(ruleLimit, []string{key}, "invalid %s %q: must be a duration", key, text)
	case d < leastLimit || d > mostLimit:
		l.Add(ruleLimit, []string{key}, "invalid %s %s: must be from %s to %s", key, text, "1s", "24h")
	}
	return d
}
