package resolve

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Values are the Helm values of a component: components/NAME/values.yaml, over
// it the values file, over it the overrides. The map is the caller's. What
// enables the component is not in it.
func (r *Result) Values(component string) (map[string]any, error) {
	c, ok := r.Component(component)
	if !ok {
		return nil, fmt.Errorf("the recipe has no component %s", component)
	}
	out := map[string]any{}
	for _, file := range r.tree.ValuesFiles(c) {
		f, problems := r.tree.Values(file)
		if err := problems.Err(); err != nil {
			return nil, err
		}
		r.lay(out, f.Values)
	}
	r.lay(out, c.Overrides)
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

func (r *Result) lay(out, values map[string]any) {
	if r.compat {
		mergeCompat(out, values)
		return
	}
	trace(nil).mergeValues(out, values, layer{}, nil, nil)
}
