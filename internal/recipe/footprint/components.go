package footprint

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// Components are what the enabled components of a recipe schedule, in deployment
// order. With problems of severity error they are not all.
func (s *Set) Components(r *resolve.Result) ([]Component, diag.List) {
	e := s.Examine(r, nil)
	return e.Components, e.Problems
}

// Examined is what a recipe schedules, with what lint holds against the nodes.
type Examined struct {
	Components []Component
	// Uses are the keys by which its values choose nodes.
	Uses []Use
	// Failed are the components that could not be made.
	Failed   map[string]bool
	Problems diag.List
}

// Examine makes the components of a recipe but those in without, and keeps where
// keys stand.
func (s *Set) Examine(r *resolve.Result, without map[string]bool) Examined {
	b := builder{set: s, r: r, without: without}
	failed := map[string]bool{}
	out := make([]Component, 0, len(r.DeploymentOrder))
	pods := 0
	for _, name := range r.DeploymentOrder {
		c, ok := r.Component(name)
		if !ok || !c.Enabled() || without[name] {
			continue
		}
		before := len(b.problems.Errors())
		made := b.component(c)
		failed[name] = len(b.problems.Errors()) > before
		pods += len(made.Workloads)
		out = append(out, made)
	}
	b.twice(out)
	if pods == 0 && len(b.problems)+len(without) == 0 {
		b.problems = append(b.problems, rule.NoPods.At(recipeAt(r), "none of the %d components of the recipe schedules a pod", len(out)))
	}
	return Examined{Components: out, Uses: b.uses, Failed: failed, Problems: b.problems.Sort()}
}

// builder makes the components of one recipe.
type builder struct {
	reader
	set     *Set
	r       *resolve.Result
	without map[string]bool
	// manifests of all components, once they are asked for.
	manifests []object
	asked     bool
}

func (b *builder) component(c *model.ComponentRef) Component {
	out := Component{Name: c.Name, Workloads: []Workload{}}
	manifests := b.ownManifests(c)
	f, ok := b.set.Get(c.Name)
	if !ok {
		if c.Source != "" || len(c.ManifestFiles)+len(c.PreManifestFiles) == 0 {
			b.problems = append(b.problems, b.missing(c))
		}
		b.fromManifests(&out, c, nil, manifests)
		return out
	}
	out.Source, out.File = f.Spec.Source, f.Name
	b.version(c, f)
	own, err := b.r.Values(c.Name)
	if err != nil {
		b.problems = append(b.problems, rule.ValuesFile.At(componentAt(b.r, c.Name), "the values of %s can't be read: %s", c.Name, err))
		return out
	}
	if f.Spec.Source == Rendered {
		b.fromRender(&out, f, own)
	}
	v := b.values(c, f, own)
	if f.Spec.Source == Rendered {
		b.placing(c, v)
	}
	b.fromManifests(&out, c, f, manifests)
	for i := range f.workloads {
		if w := &f.workloads[i]; !classOnly(w, f, manifests) && b.there(w, v) {
			out.Workloads = append(out.Workloads, b.byRules(w, v))
		}
	}
	for i := range out.Workloads {
		out.Workloads[i].Namespace = b.namespace(&out.Workloads[i], c, f)
	}
	for _, p := range f.Spec.Publishes {
		out.Publishes = append(out.Publishes, Publication{OnNodesWith: maps.Clone(p.OnNodesWith), Labels: maps.Clone(p.Labels)})
	}
	return out
}

// classOnly says of an entry that it only names the class of what a render or a
// manifest has.
func classOnly(w *workloadSpec, f *Footprint, own []object) bool {
	if w.CreatedBy == "" && f.Spec.Source == Rendered {
		return true
	}
	return slices.ContainsFunc(own, func(o object) bool { return w.is(o.kind, o.name) })
}

func (b *builder) missing(c *model.ComponentRef) diag.Problem {
	p := rule.NoFootprint.At(componentAt(b.r, c.Name), "%s has no footprint: nobody knows what pods it schedules", c.Name)
	if b.set.Shipped {
		return p.With("add footprints/%s.yaml to the tree; firstlight has none of this component either", c.Name)
	}
	return p.With("add footprints/%s.yaml; recipes/README.md says what it holds", c.Name)
}

// values are a component's over the defaults of its footprint; own is written to.
func (b *builder) values(c *model.ComponentRef, f *Footprint, own map[string]any) *values {
	return &values{all: coalesce(own, f.Spec.Defaults), place: func(path []string) place {
		return place{name: c.Name + ": " + strings.Join(path, "."), pos: func(more ...string) diag.Pos {
			return valueAt(b.r, c, f, join(path, more...))
		}}
	}}
}

// there says whether the conditions of a workload hold.
func (b *builder) there(w *workloadSpec, v *values) bool {
	holds := b.holds(w.when, v)
	if w.WhenManifest != nil && !b.manifest(w.WhenManifest.Kind, w.manifest) {
		return false
	}
	return holds
}

// byRules makes a workload of an entry and values.
func (b *builder) byRules(w *workloadSpec, v *values) Workload {
	out := Workload{
		Kind: w.Kind, Name: w.Name, Class: Class(w.Class), CreatedBy: w.CreatedBy, Discovers: w.Discovers, Brings: slices.Clone(w.Brings), Pod: w.pod.clone(),
	}
	if w.Kind != daemonSet {
		out.Replicas = int32(min(max(w.Replicas, 1), maxReplicas)) //nolint:gosec // it is bounded
	}
	b.apply(&out, w, v)
	return out
}

// namespace is the recipe's, which has the registry's already, or the footprint's.
func (b *builder) namespace(w *Workload, c *model.ComponentRef, f *Footprint) string {
	switch {
	case w.Namespace != "":
		return w.Namespace
	case c.Namespace != "":
		return c.Namespace
	case f != nil && f.Spec.Namespace != "":
		return f.Spec.Namespace
	}
	b.problems = append(b.problems, rule.FootprintShape.At(componentAt(b.r, c.Name), "nothing says which namespace %s is deployed to", c.Name).
		With("write namespace in the overlay, or defaultNamespace in registry.yaml"))
	return ""
}
