package config

import (
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
)

// Load is Parse of a file.
func LoadRegistry(path string) (*Registry, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return ParseRegistry(path, data)
}

// Parse reads a registry and validates it; name is for messages. Its error is a
// diag.List: everything that is wrong, each with its place and what to do.
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

// moved says of a key that rows had once where it is now.
func explainMovedKeys(problems diag.List) {
	for i, p := range problems {
		if p.Rule == diag.UnknownKey.Name && strings.Contains(p.Message, `"nightly-intent-min-versions"`) {
			problems[i] = p.With("write it as a floor into the floors file: lane (the cloud), intents, min-release, reason")
		}
	}
}

// Validate holds a registry against the invariants that one that was read has
// been held against. The error is as Parse's, with paths for places.
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

// dotted is a path as people write it: reservations[2].slug.
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
