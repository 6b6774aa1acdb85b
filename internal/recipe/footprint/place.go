package footprint

import (
	"github.com/firstlight/firstlight/internal/recipe/beside"
	"github.com/firstlight/firstlight/internal/recipe/problem"
)

// place is where a plain value stands, with what it is called in messages.
type place struct {
	name string
	pos  func(keys ...string) problem.Pos
}

// in is a place in a file.
func in(f *beside.File, name string, keys ...string) place {
	return place{name: name, pos: func(more ...string) problem.Pos { return f.ValueAt(join(keys, more...)...) }}
}

// at is a place below.
func (p place) at(keys ...string) place {
	return place{name: p.name, pos: func(more ...string) problem.Pos { return p.pos(join(keys, more...)...) }}
}

// join makes a new row of keys.
func join(keys []string, more ...string) []string {
	return append(keys[:len(keys):len(keys)], more...)
}

// reader makes parts of pods of plain values, and collects what is wrong with them.
type reader struct {
	problems problem.List
	uses     []Use
}

func (r *reader) add(rule problem.Rule, at place, format string, args ...any) {
	p := rule.At(at.pos(), format, args...)
	p.Message = at.name + ": " + p.Message
	r.problems = append(r.problems, p)
}
