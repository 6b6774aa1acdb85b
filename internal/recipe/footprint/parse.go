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

// daemonSet is the kind without replicas.
const daemonSet = "DaemonSet"

// workloadSpec is a parsed workload of a footprint.
type workloadSpec struct {
	*model.FootprintWorkload
	at       position
	when     []condition
	manifest query.Path
	from     []valueRule
	pod      Pod
}

func (w *workloadSpec) is(kind, name string) bool { return w.Kind == kind && w.Name == name }

// parse parses one file and reports all problems that do not depend on a recipe. It returns nil
// if the file is not a footprint.
func parse(f tree.Asset) (*Footprint, diag.List) {
	out := &Footprint{Asset: f, Footprint: &model.Footprint{}, renders: map[string][]rendered{}}
	of, problems := f.Decode(model.KindFootprint, out.Footprint)
	if !of {
		return nil, problems
	}
	r := &reader{}
	r.checkShape(out)
	for i := range out.Spec.Workloads {
		keys := []string{"spec", "workloads", strconv.Itoa(i)}
		out.workloads = append(out.workloads, r.workload(&out.Spec.Workloads[i], out, keys))
	}
	for i := range out.Spec.Renders {
		r.render(out, i)
	}
	r.checkClasses(out)
	r.checkPublications(out)
	out.Uses = r.uses
	return out, append(problems, r.problems...)
}

// checkShape checks which parts of a footprint may be combined.
func (r *reader) checkShape(f *Footprint) {
	spec := &f.Spec
	at := positionIn(&f.Asset, f.Metadata.Name, "spec")
	switch {
	case spec.Chart != nil && spec.Kustomize != nil:
		r.add(rule.FootprintShape, at.at("kustomize"), "chart and kustomize exclude each other")
	case spec.Source == Rendered && spec.Chart == nil:
		r.add(rule.FootprintShape, at.at("source"), "source is rendered but chart is missing")
	case spec.Source == Documented && len(spec.Renders) > 0:
		r.add(rule.FootprintShape, at.at("renders"), "source is documented, so renders is ignored")
	}
	if !f.Doc.Has("spec", "workloads") {
		r.add(diag.Missing, at, "missing key \"workloads\"; write workloads: [] if nothing runs")
	}
}

func (r *reader) workload(w *model.FootprintWorkload, f *Footprint, keys []string) workloadSpec {
	at := positionIn(&f.Asset, fmt.Sprintf("%s %s", w.Kind, w.Name), keys...)
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
		r.add(rule.FootprintShape, at, "a DaemonSet must not set replicas: it has one pod on each matching node")
	case stated && w.Replicas < 1:
		r.add(rule.Replicas, at.at(fieldReplicas), "invalid replicas %d: must be at least 1", w.Replicas)
	}
	r.brings(w.Brings, at.at("brings"))
	out.pod = r.pod(&w.Pod, at.at("pod"))
	return out
}

// brings checks names of extended resources.
func (r *reader) brings(names []string, at position) {
	for i, name := range names {
		below := at.at(strconv.Itoa(i))
		r.use(ResourceUse, name, below)
		if !strings.Contains(name, "/") || !knownResource(name) {
			r.add(rule.PodField, below, "invalid extended resource %q: must be domain/name", name)
		}
	}
}

func (r *reader) name(name string, at position) {
	if wrong := validation.IsDNS1123Subdomain(name); name != "" && len(wrong) > 0 {
		r.add(rule.PodField, at.at("name"), "invalid name %q: %s", name, trimExamples(wrong[0]))
	}
}

func (r *reader) checkPublications(f *Footprint) {
	for i, p := range f.Spec.Publishes {
		at := positionIn(&f.Asset, f.Metadata.Name, "spec", "publishes", strconv.Itoa(i))
		r.labels(p.OnNodesWith, at.at("onNodesWith"))
		r.labels(p.Labels, at.at("labels"))
	}
}
