package footprint

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/query"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// daemonSet has its replicas from the nodes.
const daemonSet = "DaemonSet"

// rules are a workload of a footprint, read.
type workloadSpec struct {
	*model.FootprintWorkload
	at       place
	when     []condition
	manifest query.Path
	from     []valueRule
	pod      Pod
}

func (w *workloadSpec) is(kind, name string) bool { return w.Kind == kind && w.Name == name }

// parse reads one file, with all that can be said of it without a recipe; nil where
// it is no footprint.
func parse(f tree.Asset) (*Footprint, diag.List) {
	out := &Footprint{Asset: f, Footprint: &model.Footprint{}, renders: map[string][]rendered{}}
	of, problems := f.Decode(model.KindFootprint, out.Footprint)
	if !of {
		return nil, problems
	}
	r := &reader{}
	r.shape(out)
	for i := range out.Spec.Workloads {
		keys := []string{"spec", "workloads", strconv.Itoa(i)}
		out.workloads = append(out.workloads, r.workload(&out.Spec.Workloads[i], out, keys))
	}
	for i := range out.Spec.Renders {
		r.render(out, i)
	}
	r.classes(out)
	r.publishes(out)
	out.Uses = r.uses
	return out, append(problems, r.problems...)
}

// shape looks at how the parts of a footprint fit together.
func (r *reader) shape(f *Footprint) {
	spec := &f.Spec
	at := in(&f.Asset, f.Metadata.Name, "spec")
	switch {
	case spec.Chart != nil && spec.Kustomize != nil:
		r.add(rule.FootprintShape, at.at("kustomize"), "it describes a chart and a kustomization: one of them is wanted")
	case spec.Source == Rendered && spec.Chart == nil:
		r.add(rule.FootprintShape, at.at("source"), "it is rendered, and names no chart")
	case spec.Source == Documented && len(spec.Renders) > 0:
		r.add(rule.FootprintShape, at.at("renders"), "it is documented, and has renders: nothing reads them")
	}
	if !f.Doc.Has("spec", "workloads") {
		r.add(diag.Missing, at, "the key \"workloads\" is missing: where nothing runs, write workloads: []")
	}
}

func (r *reader) workload(w *model.FootprintWorkload, f *Footprint, keys []string) workloadSpec {
	at := in(&f.Asset, fmt.Sprintf("%s %s", w.Kind, w.Name), keys...)
	out := workloadSpec{FootprintWorkload: w, at: at}
	r.name(w.Name, at)
	out.when = r.conditions(w.When, at.at("when"))
	if m := w.WhenManifest; m != nil {
		out.manifest = r.path(m.Path, at.at("whenManifest", "path"))
	}
	out.from = r.rulesOf(w.ValuesFrom, at.at("valuesFrom"))
	_, ruled := w.ValuesFrom[fieldReplicas]
	stated := f.Doc.Has(join(keys, fieldReplicas)...)
	switch {
	case w.Kind == daemonSet && (ruled || stated):
		r.add(rule.FootprintShape, at, "a DaemonSet has no replicas: it has a pod on every node that it covers")
	case stated && w.Replicas < 1:
		r.add(rule.Replicas, at.at(fieldReplicas), "%d replicas: a workload without pods says nothing", w.Replicas)
	}
	r.brings(w.Brings, at.at("brings"))
	out.pod = r.pod(&w.Pod, at.at("pod"))
	return out
}

// brings checks the names of extended resources.
func (r *reader) brings(names []string, at place) {
	for i, name := range names {
		below := at.at(strconv.Itoa(i))
		r.use(OfResource, name, below)
		if !strings.Contains(name, "/") || !knownResource(name) {
			r.add(rule.PodField, below, "%q is no name of an extended resource: write domain/name", name)
		}
	}
}

func (r *reader) name(name string, at place) {
	if wrong := validation.IsDNS1123Subdomain(name); name != "" && len(wrong) > 0 {
		r.add(rule.PodField, at.at("name"), "%q is no name of an object: %s", name, short(wrong[0]))
	}
}

func (r *reader) publishes(f *Footprint) {
	for i, p := range f.Spec.Publishes {
		at := in(&f.Asset, f.Metadata.Name, "spec", "publishes", strconv.Itoa(i))
		r.labels(p.OnNodesWith, at.at("onNodesWith"))
		r.labels(p.Labels, at.at("labels"))
	}
}
