package footprint

import "github.com/firstlight/firstlight/internal/recipe/problem"

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
func (u Use) Pos() problem.Pos { return u.at.pos() }

func (r *reader) use(of, key string, at place) {
	if key != "" {
		r.uses = append(r.uses, Use{Key: key, Of: of, at: at})
	}
}
