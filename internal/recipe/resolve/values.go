package resolve

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Values returns the Helm values of a component: components/NAME/values.yaml, overlaid with the
// values file and the overrides. The caller may modify the map. Keys that enable the component
// are not included.
func (r *Result) Values(component string) (map[string]any, error) {
	c, ok := r.Component(component)
	if !ok {
		return nil, fmt.Errorf("component %s is not in the recipe", component)
	}
	out := map[string]any{}
	for _, file := range r.tree.ValuesFiles(c) {
		f, problems := r.tree.Values(file)
		if err := problems.Err(); err != nil {
			return nil, err
		}
		trace(nil).mergeValues(out, f.Values, layer{}, nil, nil)
	}
	trace(nil).mergeValues(out, c.Overrides, layer{}, nil, nil)
	if r.compat {
		return out, nil
	}
	for _, gate := range model.Gates() {
		if _, over := c.Overrides[gate]; over {
			delete(out, gate)
		}
	}
	return out, nil
}
