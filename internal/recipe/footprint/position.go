package footprint

import (
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// position locates a plain value; name is its owner in messages.
type position struct {
	name string
	pos  func(keys ...string) diag.Pos
}

func positionIn(f *tree.Asset, name string, keys ...string) position {
	return position{name: name, pos: func(more ...string) diag.Pos { return f.ValueAt(join(keys, more...)...) }}
}

// at returns the position of a child.
func (p position) at(keys ...string) position {
	return position{name: p.name, pos: func(more ...string) diag.Pos { return p.pos(join(keys, more...)...) }}
}

// join appends without sharing memory.
func join(keys []string, more ...string) []string {
	return append(keys[:len(keys):len(keys)], more...)
}

// reader converts plain values to parts of pods and collects problems.
type reader struct {
	problems diag.List
	uses     []Use
}

func (r *reader) add(rule diag.Rule, at position, format string, args ...any) {
	p := rule.At(at.pos(), format, args...)
	p.Message = at.name + ": " + p.Message
	r.problems = append(r.problems, p)
}
