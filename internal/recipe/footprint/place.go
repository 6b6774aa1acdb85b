package footprint

import (
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// place is where a plain value stands, with what it is called in messages.
type place struct {
	name string
	pos  func(keys ...string) diag.Pos
}

// in is a place in a file.
func in(f *tree.Asset, name string, keys ...string) place {
	return place{name: name, pos: func(more ...string) diag.Pos { return f.ValueAt(join(keys, more...)...) }}
}

// at is a place below.
func (p place) at(keys ...string) place {
	return place{name: p.name, pos: func(more ...string) diag.Pos { return p.pos(join(keys, more...)...) }}
}

// join makes a new row of keys.
func join(keys []string, more ...string) []string {
	return append(keys[:len(keys):len(keys)], more...)
}

// reader makes parts of pods of plain values, and collects what is wrong with them.
type reader struct {
	problems diag.List
	uses     []Use
}

func (r *reader) add(rule diag.Rule, at place, format string, args ...any) {
	p := rule.At(at.pos(), format, args...)
	p.Message = at.name + ": " + p.Message
	r.problems = append(r.problems, p)
}
