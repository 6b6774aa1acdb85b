package footprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/problem"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Components are what the enabled components of a recipe schedule, in deployment
// order. With problems of severity error they are not all.
func (s *Set) Components(r *resolve.Result) ([]Component, problem.List) {
	b := builder{set: s, r: r}
	out := make([]Component, 0, len(r.DeploymentOrder))
	pods := 0
	for _, name := range r.DeploymentOrder {
		c, ok := r.Component(name)
		if !ok || !c.Enabled() {
			continue
		}
		made := b.component(c)
		pods += len(made.Workloads)
		out = append(out, made)
	}
	b.twice(out)
	if pods == 0 && len(b.problems) == 0 {
		b.problems = append(b.problems, problem.NoPods.At(recipeAt(r), "none of the %d components of the recipe schedules a pod", len(out)))
	}
	return out, b.problems.Sort()
}

// builder makes the components of one recipe.
type builder struct {
	reader
	set *Set
	r   *resolve.Result
	// manifests of all components, once they are asked for.
	manifests []object
	asked     bool
}

func (b *builder) component(c *model.ComponentRef) Component {
	out := Component{Name: c.Name, Workloads: []Workload{}}
	own := b.ownManifests(c)
	f, ok := b.set.Get(c.Name)
	if !ok {
		if c.Source != "" || len(c.ManifestFiles)+len(c.PreManifestFiles) == 0 {
			b.problems = append(b.problems, b.missing(c))
		}
		b.fromManifests(&out, c, nil, own)
		return out
	}
	out.Source, out.File = f.Spec.Source, f.Name
	b.version(c, f)
	v, err := b.values(c, f)
	if err != nil {
		b.problems = append(b.problems, problem.ValuesFile.At(componentAt(b.r, c.Name), "the values of %s can't be read: %s", c.Name, err))
		return out
	}
	if f.Spec.Source == Rendered {
		b.fromRender(&out, c, f)
	}
	b.fromManifests(&out, c, f, own)
	for i := range f.rules {
		if w := &f.rules[i]; !classOnly(w, f, own) && b.there(w, v) {
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
func classOnly(w *rules, f *Footprint, own []object) bool {
	if w.CreatedBy == "" && f.Spec.Source == Rendered {
		return true
	}
	return slices.ContainsFunc(own, func(o object) bool { return w.is(o.kind, o.name) })
}

func (b *builder) missing(c *model.ComponentRef) problem.Problem {
	p := problem.NoFootprint.At(componentAt(b.r, c.Name), "%s has no footprint: nobody knows what pods it schedules", c.Name)
	if b.set.Shipped {
		return p.With("add footprints/%s.yaml to the tree; firstlight has none of this component either", c.Name)
	}
	return p.With("add footprints/%s.yaml; recipes/README.md says what it holds", c.Name)
}

// version holds what the footprint describes against what the recipe deploys.
func (b *builder) version(c *model.ComponentRef, f *Footprint) {
	has, want := "manifests alone", deployed(c)
	at := f.At("spec")
	switch {
	case f.Spec.Chart != nil:
		has, at = release("chart", f.Spec.Chart.Name, f.Spec.Chart.Version), f.ValueAt("spec", "chart", "version")
	case f.Spec.Kustomize != nil:
		has, at = release("kustomization", f.Spec.Kustomize.Path, f.Spec.Kustomize.Tag), f.ValueAt("spec", "kustomize", "tag")
	}
	if has == want {
		return
	}
	if pinned, overlay := versionAt(b.r, c); overlay {
		at = pinned
	}
	b.problems = append(b.problems, problem.FootprintVersion.At(at, "the recipe deploys %s as %s, and its footprint %s describes %s", c.Name, want, f.Name, has).
		With("run firstlight recipe footprint update %s, or write the footprint of this version", c.Name))
}

// deployed says what a component is deployed from.
func deployed(c *model.ComponentRef) string {
	switch {
	case c.Type == model.Kustomize:
		return release("kustomization", c.Path, c.Tag)
	case c.Source == "":
		return "manifests alone"
	default:
		return release("chart", c.Chart, c.Version)
	}
}

// release names what is deployed; versions with a v in front are those without.
func release(kind, name, version string) string {
	return fmt.Sprintf("%s %s %s", kind, name, strings.TrimPrefix(version, "v"))
}

func (b *builder) values(c *model.ComponentRef, f *Footprint) (*values, error) {
	all, err := b.r.Values(c.Name)
	if err != nil {
		return nil, fmt.Errorf("merge values: %w", err)
	}
	return &values{all: coalesce(all, f.Spec.Defaults), place: func(path []string) place {
		return place{name: c.Name + ": " + strings.Join(path, "."), pos: func(more ...string) problem.Pos {
			return valueAt(b.r, c, f, join(path, more...))
		}}
	}}, nil
}

// there says whether the conditions of a workload hold.
func (b *builder) there(w *rules, v *values) bool {
	holds := b.holds(w.when, v)
	if w.WhenManifest != nil && !b.manifest(w.WhenManifest.Kind, w.manifest) {
		return false
	}
	return holds
}

// byRules makes a workload of an entry and values.
func (b *builder) byRules(w *rules, v *values) Workload {
	out := Workload{
		Kind: w.Kind, Name: w.Name, Class: Class(w.Class), CreatedBy: w.CreatedBy, Discovers: w.Discovers, Pod: w.pod.clone(),
	}
	if w.Kind != daemonSet {
		out.Replicas = int32(min(max(w.Replicas, 1), maxReplicas)) //nolint:gosec // it is bounded
	}
	b.apply(&out, w, v)
	return out
}

// fromRender takes the workloads that the chart was rendered to with these values.
func (b *builder) fromRender(out *Component, c *model.ComponentRef, f *Footprint) {
	own, err := b.r.Values(c.Name)
	if err == nil {
		var digest string
		if digest, err = ValuesDigest(own); err == nil {
			list, ok := f.renders[digest]
			if !ok {
				b.problems = append(b.problems, problem.NoRender.At(f.At("spec", "renders"), "the chart of %s was not rendered with the values of this recipe (%.12s)", c.Name, digest).
					With("run firstlight recipe footprint update %s", c.Name))
			}
			for i := range list {
				b.rendered(out, &list[i], f)
			}
			return
		}
	}
	b.problems = append(b.problems, problem.ValuesFile.At(componentAt(b.r, c.Name), "the values of %s: %s", c.Name, err))
}

func (b *builder) rendered(out *Component, w *rendered, f *Footprint) {
	made := Workload{Kind: w.kind, Name: w.name, Replicas: w.replicas, Pod: w.pod.clone()}
	made.Pod.clip()
	if w.kind == daemonSet {
		made.Replicas = 0
	}
	if b.classify(&made, f, w.at) {
		out.Workloads = append(out.Workloads, made)
	}
}

// classify gives a workload that a render or a manifest has its class, by the
// footprint's entry of the same kind and name.
func (b *builder) classify(w *Workload, f *Footprint, at place) bool {
	if f != nil {
		for i := range f.rules {
			if e := &f.rules[i]; e.is(w.Kind, w.Name) && e.CreatedBy == "" {
				w.Class, w.Discovers = Class(e.Class), e.Discovers
				return true
			}
		}
	}
	b.add(problem.NoClass, at, "nothing says where its pods may be")
	last := &b.problems[len(b.problems)-1]
	file := "a footprint of the component"
	if f != nil {
		file = f.Name
	}
	*last = last.With("add to workloads of %s: {kind: %s, name: %s, class: system}, or accelerated, or any", file, w.Kind, w.Name)
	return false
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
	b.problems = append(b.problems, problem.FootprintShape.At(componentAt(b.r, c.Name), "nothing says which namespace %s is deployed to", c.Name).
		With("write namespace in the overlay, or defaultNamespace in registry.yaml"))
	return ""
}

// twice finds workloads that would be one object.
func (b *builder) twice(components []Component) {
	first := map[string]string{}
	for _, c := range components {
		for i := range c.Workloads {
			w := &c.Workloads[i]
			key := w.Kind + " " + w.Namespace + "/" + w.Name
			if other, ok := first[key]; ok {
				at := componentAt(b.r, c.Name)
				if f, ok := b.set.Get(c.Name); ok {
					at = f.lastOf(w.Kind, w.Name)
				}
				b.problems = append(b.problems, problem.TwiceWorkload.At(at, "%s is there twice, of %s and of %s", key, other, c.Name))
				continue
			}
			first[key] = c.Name
		}
	}
}

func (f *Footprint) lastOf(kind, name string) problem.Pos {
	for i := range slices.Backward(f.rules) {
		if f.rules[i].is(kind, name) {
			return f.rules[i].at.pos("name")
		}
	}
	return f.At("spec", "workloads")
}
