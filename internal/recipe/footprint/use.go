package footprint

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// Values of Use.Kind.
const (
	LabelUse    = "label"
	TaintUse    = "taint"
	ResourceUse = "resource"
)

// Use is a key that pods use to select or tolerate nodes, or a resource that they request.
type Use struct {
	Key string
	// Kind is label, taint or resource.
	Kind string
	at   position
}

// Name is the owner of the key, for messages.
func (u Use) Name() string { return u.at.name }

// Pos is the position of the key.
func (u Use) Pos() diag.Pos { return u.at.pos() }

func (r *reader) use(of, key string, at position) {
	if key != "" {
		r.uses = append(r.uses, Use{Key: key, Kind: of, at: at})
	}
}

// ValueRead is a value path that a footprint reads.
type ValueRead struct {
	Path query.Path
	Pos  diag.Pos
}

// Reads returns the value paths in conditions and rules.
func (f *Footprint) Reads() []ValueRead {
	var out []ValueRead
	for i := range f.workloads {
		w := &f.workloads[i]
		for j, c := range w.when {
			out = append(out, ValueRead{Path: c.path, Pos: w.at.pos("when", strconv.Itoa(j))})
		}
		for _, q := range w.from {
			for _, p := range q.paths {
				out = append(out, ValueRead{Path: p, Pos: w.at.pos("valuesFrom", q.field)})
			}
		}
	}
	return out
}
