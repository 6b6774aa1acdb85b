package distribution

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Containerd is that of a distribution, where it is not at the default paths.
type Containerd struct {
	// Embedded matches the runtime version of the distribution's own build; empty: the version does not show it.
	Embedded string `yaml:"embedded"`
	Example  string `yaml:"example"`
	// Sockets of all supported versions, the current one first.
	Sockets []string `yaml:"sockets"`
	// Config are the directories of the configuration that it reads.
	Config []string `yaml:"config"`
	// DataConfig ends such a directory below another data directory.
	DataConfig string `yaml:"dataConfig"`
	// FindsRuntimes: it finds the toolkit's runtimes without configuration.
	FindsRuntimes bool   `yaml:"findsRuntimes"`
	Source        string `yaml:"source"`

	embedded *regexp.Regexp
}

// Differs reports whether the GPU Operator's toolkit must be configured for it.
func (c Containerd) Differs() bool { return len(c.Sockets) > 0 }

// Runs reports whether a node with this runtime version runs it, as far as the version tells.
func (c Containerd) Runs(runtime string) bool {
	if c.embedded != nil {
		return c.embedded.MatchString(runtime)
	}
	return strings.HasPrefix(runtime, "containerd://")
}

// Page is the first page of its source, for messages.
func (c Containerd) Page() string {
	first, _, _ := strings.Cut(c.Source, ";")
	first, _, _ = strings.Cut(first, ",")
	return first
}

// HasSocket reports whether a path is its socket.
func (c Containerd) HasSocket(socket string) bool { return slices.Contains(c.Sockets, clean(socket)) }

// Reads reports whether it reads a file of this path. A directory of another distribution's default is not
// one of another data directory.
func (c Containerd) Reads(file string) bool {
	within := func(dirs []string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(clean(file), dir+"/") })
	}
	if within(c.Config) {
		return true
	}
	if c.DataConfig == "" || !strings.Contains(clean(file), c.DataConfig+"/") {
		return false
	}
	list, err := all()
	return err == nil && !slices.ContainsFunc(list, func(d Distribution) bool { return within(d.Containerd.Config) })
}

// clean is a path without the link /var/run.
func clean(file string) string {
	file = path.Clean(file)
	if rest, ok := strings.CutPrefix(file, "/var/run/"); ok {
		return "/run/" + rest
	}
	return file
}
