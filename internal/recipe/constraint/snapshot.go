package constraint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// Snapshot has the measurements of a cluster by path.
type Snapshot struct {
	values map[Path][]string
}

// NewSnapshot returns a snapshot with one value for each path.
func NewSnapshot(values map[Path]string) *Snapshot {
	s := &Snapshot{values: map[Path][]string{}}
	for path, value := range values {
		s.values[path] = []string{value}
	}
	return s
}

// ParseSnapshot parses a file of kind Snapshot. It ignores unknown keys, because another
// program writes the file.
func ParseSnapshot(file string, data []byte) (*Snapshot, error) {
	doc, problems := yamlstrict.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	var f model.Snapshot
	problems = doc.Decode(&f).Without(diag.UnknownKey)
	if f.Kind != "" && f.Kind != model.KindSnapshot {
		problems = append(problems, diag.UnknownKind.At(doc.At("kind"), "invalid kind %q: must be %s", f.Kind, model.KindSnapshot).
			With("give a snapshot file"))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s := &Snapshot{values: map[Path][]string{}}
	for _, m := range f.Measurements {
		for _, sub := range m.Subtypes {
			name := cmp.Or(sub.Subtype, sub.Name)
			for key, value := range sub.Data {
				if value.Given {
					p := Path{Type: m.Type, Subtype: name, Key: key}
					s.values[p] = append(s.values[p], value.Text)
				}
			}
		}
	}
	return s, nil
}

// Get returns the value of a measurement. It fails unless the snapshot has exactly one.
func (s *Snapshot) Get(p Path) (string, error) {
	found := slices.Compact(slices.Sorted(slices.Values(s.values[p])))
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("the snapshot has no %s%s", p, s.near(p))
	default:
		return "", fmt.Errorf("the snapshot has %d values of %s: %s", len(found), p, strings.Join(found, ", "))
	}
}

// near describes similar measurements.
func (s *Snapshot) near(p Path) string {
	var subtypes, keys []string
	for q := range s.values {
		if q.Type == p.Type {
			subtypes = append(subtypes, q.Subtype)
			if q.Subtype == p.Subtype {
				keys = append(keys, q.Key)
			}
		}
	}
	if key := diag.Nearest(p.Key, keys); key != "" {
		return fmt.Sprintf(" (but %s.%s.%s)", p.Type, p.Subtype, key)
	}
	switch {
	case len(keys) > 0:
		return fmt.Sprintf(" (%d other keys of %s.%s)", len(keys), p.Type, p.Subtype)
	case len(subtypes) > 0:
		return fmt.Sprintf(" (of %s it has %s)", p.Type, strings.Join(slices.Compact(slices.Sorted(slices.Values(subtypes))), ", "))
	default:
		return fmt.Sprintf(" (no measurement of type %s)", p.Type)
	}
}
