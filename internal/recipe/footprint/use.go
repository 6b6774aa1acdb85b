package footprint

import (
	"strconv"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

// What the key of a Use is of.
const (
	OfLabel    = "label"
	OfTaint    = "taint"
	OfResource = "resource"
)

// Use is a key by which pods choose or tolerate nodes, or a resource that they ask for.
type Use struct {
	Key string
	// Of says what nodes have it as: a label, a taint or a resource.
	Of string
	at place
}

// Name says whose it is, for messages.
func (u Use) Name() string { return u.at.name }

// Pos is where it stands.
func (u Use) Pos() diag.Pos { return u.at.pos() }

func (r *reader) use(of, key string, at place) {
	if key != "" {
		r.uses = append(r.uses, Use{Key: key, Of: of, at: at})
	}
}

// Read is a value path that a footprint reads.
type Read struct {
	Path query.Path
	Pos  diag.Pos
}

// Reads are the value paths that the rules read.
func (f *Footprint) Reads() []Read {
	var out []Read
	for i := range f.workloads {
		w := &f.workloads[i]
		for j, c := range w.when {
			out = append(out, Read{Path: c.path, Pos: w.at.pos("when", strconv.Itoa(j))})
		}
		for _, q := range w.from {
			for _, p := range q.paths {
				out = append(out, Read{Path: p, Pos: w.at.pos("valuesFrom", q.field)})
			}
		}
	}
	return out
}
