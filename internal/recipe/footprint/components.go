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

// Components returns the workloads of the enabled components of a recipe, in deployment order.
// It is incomplete if there are problems of severity Error.
func (s *Set) Components(r *resolve.Result) ([]Component, diag.List) {
	e := s.Inspect(r, nil)
	return e.Components, e.Problems
}

// Inspection has the workloads of a recipe and the data that lint compares with its nodes.
type Inspection struct {
	Components []Component
	// Uses are the label, taint and resource keys in its values.
	Uses []Use
	// Failed are the components with errors.
	Failed   map[string]bool
	Problems diag.List
}

// Inspect returns the workloads of a recipe, except those of the components in without, and the
// keys that they use.
func (s *Set) Inspect(r *resolve.Result, without map[string]bool) Inspection {
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
	b.findDuplicates(out)
	if pods == 0 && len(b.problems)+len(without) == 0 {
		b.problems = append(b.problems, rule.NoPods.At(recipeAt(r), "none of the %d components of the recipe schedules pods", len(out)))
	}
	return Inspection{Components: out, Uses: b.uses, Failed: failed, Problems: b.problems.Sort()}
}

type builder struct {
	reader
	set     *Set
	r       *resolve.Result
	without map[string]bool
	// manifests of all components, loaded on first use.
	manifests []object
	asked     bool
}

func (b *builder) component(c *model.ComponentRef) Component {
	out := Component{Name: c.Name, Workloads: []Workload{}}
	f, ok := b.set.Get(c.Name)
	manifests := b.ownManifests(c, f)
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
		b.problems = append(b.problems, rule.ValuesFile.At(componentAt(b.r, c.Name), "cannot read the values of %s: %s", c.Name, err))
		return out
	}
	if f.Spec.Source == Rendered {
		b.fromRender(&out, f, own)
	}
	v := b.values(c, f, own)
	if f.Spec.Source == Rendered {
		b.checkPlacing(c, v)
	}
	b.fromManifests(&out, c, f, manifests)
	for i := range f.workloads {
		if w := &f.workloads[i]; !classOnly(w, f, manifests) && b.conditionsHold(w, v) {
			out.Workloads = append(out.Workloads, b.fromRules(w, v))
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

// classOnly reports whether an entry only adds the class to a workload of a render or manifest.
func classOnly(w *workloadSpec, f *Footprint, own []object) bool {
	if w.CreatedBy == "" && f.Spec.Source == Rendered {
		return true
	}
	return slices.ContainsFunc(own, func(o object) bool { return w.is(o.pods.as, o.name) })
}

func (b *builder) missing(c *model.ComponentRef) diag.Problem {
	p := rule.NoFootprint.At(componentAt(b.r, c.Name), "component %s has no footprint, so its pods are unknown", c.Name)
	if b.set.Shipped {
		return p.With("add footprints/%s.yaml to the tree; firstlight has no footprint for this component", c.Name)
	}
	return p.With("add footprints/%s.yaml; recipes/README.md describes the format", c.Name)
}

// values merges a component's values over the defaults of its footprint. It modifies own.
func (b *builder) values(c *model.ComponentRef, f *Footprint, own map[string]any) *values {
	return &values{all: coalesce(own, f.Spec.Defaults), place: func(path []string) position {
		return position{name: c.Name + ": " + strings.Join(path, "."), pos: func(more ...string) diag.Pos {
			return valueAt(b.r, c, f, join(path, more...))
		}}
	}}
}

func (b *builder) conditionsHold(w *workloadSpec, v *values) bool {
	holds := b.holds(w.when, v)
	if w.WhenManifest != nil && !b.manifest(w.WhenManifest.Kind, w.manifest) {
		return false
	}
	return holds
}

// fromRules builds a workload from an entry and values.
func (b *builder) fromRules(w *workloadSpec, v *values) Workload {
	out := Workload{
		Kind: w.Kind, Name: w.Name, Class: Class(w.Class), CreatedBy: w.CreatedBy, Discovers: w.Discovers, Brings: slices.Clone(w.Brings), Pod: w.pod.clone(),
	}
	if w.Kind != daemonSet {
		out.Replicas = int32(min(max(w.Replicas, 1), maxReplicas)) //nolint:gosec // it is bounded
	}
	b.apply(&out, w, v)
	return out
}

// namespace is that of the recipe (which includes the registry's default) or of the footprint.
func (b *builder) namespace(w *Workload, c *model.ComponentRef, f *Footprint) string {
	switch {
	case w.Namespace != "":
		return w.Namespace
	case c.Namespace != "":
		return c.Namespace
	case f != nil && f.Spec.Namespace != "":
		return f.Spec.Namespace
	}
	b.problems = append(b.problems, rule.FootprintShape.At(componentAt(b.r, c.Name), "namespace of %s is unknown", c.Name).
		With("set namespace in the overlay, or defaultNamespace in registry.yaml"))
	return ""
}
