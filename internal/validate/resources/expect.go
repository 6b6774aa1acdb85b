package resources

import (
	"cmp"
	"slices"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Object is an expected object.
type Object struct {
	// Kind as in the API. Deployment, DaemonSet, StatefulSet and Job must be complete; an
	// object of any other kind must exist.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Component that owns the object.
	Component string `json:"component"`
	// CreatedBy is the kind of the custom resource from which an operator creates the object;
	// empty: the component's chart has it.
	CreatedBy string `json:"createdBy,omitempty"`
}

// id names the object: "Deployment gpu-operator/gpu-operator".
func (o Object) id() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Expect returns the objects of a recipe's enabled components: the workloads of their
// footprints whose conditions hold with the recipe's values, and the recipe's
// expectedResources. With problems of severity error the list is incomplete.
func Expect(r *resolve.Result, footprints *footprint.Set) ([]Object, diag.List) {
	components, problems := footprints.Components(r)
	var out []Object
	for _, c := range components {
		for i := range c.Workloads {
			w := &c.Workloads[i]
			out = append(out, Object{Kind: cmp.Or(w.Object, w.Kind), Namespace: w.Namespace, Name: w.Name, Component: c.Name, CreatedBy: w.CreatedBy})
		}
	}
	for i := range r.ComponentRefs {
		c := &r.ComponentRefs[i]
		if !c.Enabled() {
			continue
		}
		for _, e := range c.ExpectedResources {
			o := Object{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name, Component: c.Name}
			if !slices.ContainsFunc(out, func(x Object) bool { return x.id() == o.id() }) {
				out = append(out, o)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Object) int { return cmp.Compare(a.id(), b.id()) })
	return out, problems
}
