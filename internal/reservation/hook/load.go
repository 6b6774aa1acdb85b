package hook

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

type fileConfig struct {
	APIVersion string     `yaml:"apiVersion" need:"true"`
	Owner      string     `yaml:"owner" need:"true"`
	Hooks      []fileHook `yaml:"hooks" need:"true"`
}

type fileHook struct {
	Cloud       string     `yaml:"cloud" need:"true"`
	Command     []string   `yaml:"command"`
	Environment []string   `yaml:"environment"`
	Secrets     []string   `yaml:"secrets"`
	Job         *fileJob   `yaml:"job"`
	Limits      fileLimits `yaml:"limits"`
}

type fileJob struct {
	Template  string `yaml:"template" need:"true"`
	Namespace string `yaml:"namespace" need:"true"`
}

type fileLimits struct {
	Provision *fileLimit `yaml:"provision"`
	Teardown  *fileLimit `yaml:"teardown"`
	Nodes     *fileLimit `yaml:"nodes"`
	Discover  *fileLimit `yaml:"discover"`
	Test      *fileLimit `yaml:"test"`
}

type fileLimit struct {
	Time     string `yaml:"time"`
	Attempts *int   `yaml:"attempts"`
	Backoff  string `yaml:"backoff"`
}

const (
	maxTime     = 24 * time.Hour
	maxAttempts = 20
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Load reads and parses a file. Relative paths in it are relative to its directory.
func Load(path string) (*Config, error) {
	data, err := config.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse parses and validates hooks.yaml; name is its path. The error is a diag.List with all
// problems, each with position and remedy.
func Parse(name string, data []byte) (*Config, error) {
	return config.Parse(name, data, func(c *config.Loader, f *fileConfig) *Config { return (&loader{c, filepath.Dir(name)}).config(f) })
}

// loader builds a Config and collects problems.
type loader struct {
	*config.Loader
	dir string
}

func (l *loader) config(f *fileConfig) *Config {
	if f.APIVersion != "" && f.APIVersion != APIVersion {
		l.Add(ruleVersion, []string{"apiVersion"}, "unsupported apiVersion %q", f.APIVersion)
	}
	if f.Owner != "" && !owners.MatchString(f.Owner) {
		l.Add(ruleOwner, []string{"owner"}, "invalid owner %q", f.Owner)
	}
	if l.Doc.Has("hooks") && len(f.Hooks) == 0 {
		l.Add(ruleNoHook, []string{"hooks"}, "no hooks")
	}
	c := &Config{Owner: f.Owner, Hooks: map[config.Cloud]Hook{}}
	for i, h := range f.Hooks {
		at := func(keys ...string) []string { return append([]string{"hooks", strconv.Itoa(i)}, keys...) }
		cloud := config.Cloud(h.Cloud)
		if _, twice := c.Hooks[cloud]; twice {
			l.Add(ruleTwice, at("cloud"), "duplicate hook of %s", cloud)
		}
		if h.Cloud != "" && !slices.Contains(config.Clouds(), cloud) {
			l.Add(ruleCloud, at("cloud"), "unknown cloud %q", h.Cloud)
		}
		c.Hooks[cloud] = l.hook(h, at)
	}
	return c
}

func (l *loader) hook(f fileHook, at func(...string) []string) Hook {
	h := Hook{Cloud: config.Cloud(f.Cloud), Environment: f.Environment, Secrets: f.Secrets, Limits: DefaultLimits()}
	if (len(f.Command) > 0) == (f.Job != nil) {
		l.Add(ruleOneOf, at("cloud"), "the hook of %s must have either command or job", f.Cloud)
	}
	if len(f.Command) > 0 {
		h.Command = slices.Clone(f.Command)
		if p := f.Command[0]; strings.Contains(p, "/") && !filepath.IsAbs(p) {
			h.Command[0] = filepath.Join(l.dir, p)
		}
		if f.Command[0] == "" {
			l.Add(ruleOneOf, at("command"), "invalid command: it has no program")
		}
	}
	if f.Job != nil {
		h.Job = l.job(f.Job, at)
		if len(f.Environment)+len(f.Secrets) > 0 {
			l.Add(ruleVariable, at("job"), "a Job gets no variables of this machine")
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"environment", f.Environment}, {"secrets", f.Secrets}} {
		for j, name := range list.names {
			if !variable.MatchString(name) {
				l.Add(ruleVariable, at(list.key, strconv.Itoa(j)), "invalid name of a variable %q", name)
			}
		}
	}
	for verb, f := range map[Verb]*fileLimit{
		Provision: f.Limits.Provision, Teardown: f.Limits.Teardown, GetNodes: f.Limits.Nodes, Discover: f.Limits.Discover, Test: f.Limits.Test,
	} {
		if f != nil {
			h.Limits[verb] = l.limit(f, h.Limits[verb], func(key string) []string { return at("limits", string(verb), key) })
		}
	}
	return h
}

func (l *loader) limit(f *fileLimit, out Limit, at func(string) []string) Limit {
	for _, d := range []struct {
		key, text string
		least     time.Duration
		to        *time.Duration
	}{{"time", f.Time, time.Second, &out.Time}, {"backoff", f.Backoff, 0, &out.Backoff}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil || v < d.least || v > maxTime {
			l.Add(ruleLimit, at(d.key), "invalid duration %q: must be from %s to %s", d.text, d.least, maxTime)
		}
		*d.to = v
	}
	if f.Attempts != nil {
		if out.Attempts = *f.Attempts; out.Attempts < 1 || out.Attempts > maxAttempts {
			l.Add(ruleLimit, at("attempts"), "invalid attempts %d: must be from 1 to %d", out.Attempts, maxAttempts)
		}
	}
	return out
}

// job reads the template of a hook.
func (l *loader) job(f *fileJob, at func(...string) []string) *Job {
	path := f.Template
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	data, err := config.ReadFile(path)
	if err == nil {
		var j *Job
		if j, err = parseJob(data, f.Namespace); err == nil {
			return j
		}
		err = fmt.Errorf("%s: %w", path, err)
	}
	if f.Template != "" {
		l.Add(ruleTemplate, at("job", "template"), "%v", err)
	}
	return nil
}
