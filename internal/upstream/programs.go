package upstream

import (
	"fmt"
	"maps"
)

// Programs are built programs, by name.
type Programs struct {
	paths map[string]string
}

// NewPrograms makes Programs of files that exist already.
func NewPrograms(paths map[string]string) Programs { return Programs{paths: paths} }

// With are these programs and others.
func (p Programs) With(others Programs) Programs {
	all := maps.Clone(p.paths)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, others.paths)
	return Programs{paths: all}
}

// Path is a program's file.
func (p Programs) Path(name string) (string, error) {
	path, ok := p.paths[name]
	if !ok {
		return "", fmt.Errorf("program %q is not among the pinned ones", name)
	}
	return path, nil
}
