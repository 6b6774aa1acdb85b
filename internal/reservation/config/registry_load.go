package config

import (
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// LoadRegistry reads and parses a file.
func LoadRegistry(path string) (*Registry, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseRegistry(path, data)
}

// ParseRegistry parses and validates a registry; name is used in messages. The error is a
// diag.List with all problems, each with position and remedy.
func ParseRegistry(name string, data []byte) (*Registry, error) {
	var r Registry
	doc, problems := DecodeYAML(name, data, &r)
	if doc == nil {
		return nil, problems.Sort().Err()
	}
	explainMovedKeys(problems)
	v := registryValidator{at: doc.ValueAt, has: doc.Has}
	v.registry(&r)
	if err := MergeProblems(problems, v.problems).Err(); err != nil {
		return nil, err
	}
	return &r, nil
}

// explainMovedKeys tells where a former key of a row belongs now.
func explainMovedKeys(problems diag.List) {
	for i, p := range problems {
		if p.Rule == diag.UnknownKey.Name && strings.Contains(p.Message, `"nightly-intent-min-versions"`) {
			problems[i] = p.With("add it as a floor to compat.yaml: lane (the cloud), intents, min-release, reason")
		}
	}
}

// Validate checks the invariants that ParseRegistry checks; positions are paths.
func (r *Registry) Validate() error {
	v := registryValidator{
		at:  func(path ...string) diag.Pos { return diag.Pos{File: dottedPath(path)} },
		has: func(...string) bool { return false },
	}
	if r == nil {
		r = &Registry{}
	}
	v.registry(r)
	return v.problems.Sort().Err()
}

// dottedPath formats a path: reservations[2].slug.
func dottedPath(path []string) string {
	var b strings.Builder
	for _, part := range path {
		switch {
		case part[0] >= '0' && part[0] <= '9':
			b.WriteString("[" + part + "]")
		case b.Len() > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}
