package upstream

import "context"

// Status is a pinned program and its file.
type Status struct {
	Pin
	Group string `json:"group"`
	// Path is its file; empty: not built.
	Path string `json:"path,omitempty"`
}

// List returns all pinned programs in build order.
func (b Builder) List(ctx context.Context) ([]Status, error) {
	b, err := b.withDefaults(ctx)
	if err != nil {
		return nil, err
	}
	t, err := loadTable()
	if err != nil {
		return nil, err
	}
	var all []Status
	for _, g := range t.Groups {
		found, err := b.find(g)
		if err != nil {
			return nil, err
		}
		for _, p := range g.Programs {
			pin, err := g.pin(p)
			if err != nil {
				return nil, err
			}
			all = append(all, Status{Pin: pin, Group: g.Name, Path: found[p.Name]})
		}
	}
	return all, nil
}
