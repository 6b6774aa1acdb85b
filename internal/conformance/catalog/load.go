package catalog

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

//go:embed data
var shipped embed.FS

// Programme holds the requirements of one version.
type Programme struct {
	// Version is the Kubernetes minor version: "1.36".
	Version string
	// Requirements in the order of the checklist.
	Requirements []Requirement
	// Placeholders are the metadata of the checklist, which a product completes.
	Placeholders map[string]string
	Source       Source
}

// Requirement is one row of a checklist.
type Requirement struct {
	Category    string
	ID          string
	Description string
	Level       Level
}

// Source of a version's wording.
type Source struct {
	ReadFrom     []string `yaml:"readFrom" need:"true"`
	ComparedWith []string `yaml:"comparedWith"`
	// Unverified lists what was not compared with the program's own checklist.
	Unverified []string `yaml:"unverified"`
}

// ErrNoVersion is the error for an unknown version.
var ErrNoVersion = errors.New("no checklist of the CNCF AI Conformance program")

const (
	prefix = "data/AIConformance-"
	suffix = ".yaml"
)

// Versions lists the versions with a checklist, oldest first.
func Versions() []string {
	names, err := fs.Glob(shipped, prefix+"*"+suffix)
	if err != nil {
		panic(err) // the pattern is above
	}
	for i, n := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(n, prefix), suffix)
	}
	slices.Sort(names)
	return names
}

// Load reads the checklist of a version ("1.36" or "v1.36"). An unknown version is
// ErrNoVersion, with the known ones.
func Load(version string) (Programme, error) {
	v := strings.TrimPrefix(version, "v")
	if !slices.Contains(Versions(), v) {
		return Programme{}, fmt.Errorf("%w for version %q: want one of %s", ErrNoVersion, version, strings.Join(Versions(), ", "))
	}
	p, err := load(v)
	if err != nil {
		return Programme{}, fmt.Errorf("load the checklist for %s: %w", v, err)
	}
	return p, nil
}

func load(version string) (Programme, error) {
	var doc Document
	if err := decode(prefix+version+suffix, &doc); err != nil {
		return Programme{}, err
	}
	var sources struct {
		Versions map[string]Source `yaml:"versions" need:"true"`
	}
	if err := decode("data/sources.yaml", &sources); err != nil {
		return Programme{}, err
	}
	p := Programme{Version: version, Placeholders: doc.Metadata, Source: sources.Versions[version]}
	seen := map[string]bool{}
	for _, c := range doc.Spec.Categories() {
		for _, e := range c.Entries {
			level := Level(e.Level)
			if e.ID == "" || e.Description == "" || level != Must && level != Should || seen[e.ID] {
				return Programme{}, fmt.Errorf("requirement %q of %s is duplicate, or has no description or level", e.ID, c.Name)
			}
			seen[e.ID] = true
			p.Requirements = append(p.Requirements, Requirement{Category: c.Name, ID: e.ID, Description: e.Description, Level: level})
		}
	}
	return p, nil
}

func decode(name string, into any) error {
	data, err := shipped.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	doc, problems := yamlstrict.Parse(name, data)
	if doc != nil {
		problems = append(problems, doc.Decode(into)...)
	}
	return problems.Err()
}

// Find finds the requirement with an ID.
func (p Programme) Find(id string) (Requirement, bool) {
	i := slices.IndexFunc(p.Requirements, func(r Requirement) bool { return r.ID == id })
	if i < 0 {
		return Requirement{}, false
	}
	return p.Requirements[i], true
}

// Of lists the requirements of a category in order.
func (p Programme) Of(category string) []Requirement {
	var out []Requirement
	for _, r := range p.Requirements {
		if r.Category == category {
			out = append(out, r)
		}
	}
	return out
}
