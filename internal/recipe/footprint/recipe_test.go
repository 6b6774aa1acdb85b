package footprint_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func overlay(spec string) map[string]string {
	return map[string]string{"overlays/eks.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec:\n  criteria: {service: eks}\n" + spec}
}

// Mismatches between a recipe and the footprints are reported with their positions.
func TestProblemsOfRecipes(t *testing.T) {
	t.Parallel()
	with := func(layers ...map[string]string) map[string]string {
		out := map[string]string{}
		for _, m := range layers {
			maps.Copy(out, m)
		}
		return out
	}
	const other = "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: other}\nspec:\n  source: documented\n  workloads: []\n"
	none := map[string]string{"footprints/thing.yaml": "", "footprints/other.yaml": other}
	const w = "  workloads:\n    - {kind: Deployment, name: w, class: system}\n"
	tests := []struct {
		name, footprint string
		files           map[string]string
		want, part      string
	}{
		{"no footprint", "", none, "overlays/base.yaml:6:14 no-footprint", "thing has no footprint"},
		{"another version", strings.Replace(goodFootprint, "version: 1.0.0", "version: 1.0.1", 1), nil, "footprints/thing.yaml:5:66 footprint-version", "chart thing 1.0.0, but its footprint footprints/thing.yaml describes chart thing 1.0.1"},
		{"an overlay's version", goodFootprint, overlay("  componentRefs: [{name: thing, version: v2.0.0}]\n"), "overlays/eks.yaml:6:42 footprint-version", "chart thing 2.0.0"},
		{"another chart", strings.Replace(goodFootprint, "name: thing,", "name: thing-crds,", 1), nil, "footprints/thing.yaml:5:71 footprint-version", "thing-crds"},
		{"a chart of what is a kustomization", goodFootprint, map[string]string{"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, kustomize: {defaultSource: https://example.com, defaultPath: p, defaultTag: v1.0.0, defaultNamespace: things}}\n"}, "footprints/thing.yaml:5:66 footprint-version", "kustomization p 1.0.0"},
		{"a workload twice", chart + w + "    - {kind: Deployment, name: w, class: any}\n", nil, "footprints/thing.yaml:9:32 duplicate-workload", "Deployment things/w is created by both"},
		{"no pods", chart + "  workloads: []\n", nil, "overlays/eks.yaml:3:18 no-pods", "none of the 1 components"},
		{"no lock", strings.Replace(chart, "documented", "rendered", 1) + "  workloads: []\n  renders:\n    - {values: abc, workloads: []}\n", nil, "footprints/thing.yaml:8:3 not-rendered", "has no render for the values of this recipe (44136fa355b3)"},
		{"a render without a class", strings.Replace(chart, "documented", "rendered", 1) + "  workloads: []\n  renders:\n    - values: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n      workloads:\n        - {kind: Deployment, name: w, replicas: 1}\n", nil, "footprints/thing.yaml:11:11 no-class", "Deployment w"},
		{"the class of nothing", strings.Replace(chart, "documented", "rendered", 1) + w + "  renders:\n    - values: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n      workloads: []\n", nil, "footprints/thing.yaml:8:7 footprint-shape", "no render has this workload"},
		{"a render without replicas", strings.Replace(chart, "documented", "rendered", 1) + w + "  renders:\n    - values: a\n      workloads:\n        - {kind: Deployment, name: w}\n", nil, "footprints/thing.yaml:12:11 replicas", "invalid replicas 0"},
		{"a render twice", strings.Replace(chart, "documented", "rendered", 1) + "  workloads: []\n  renders:\n    - {values: a, workloads: []}\n    - {values: a, workloads: []}\n", nil, "footprints/thing.yaml:10:16 duplicate-entry", "duplicate"},
		{"a render that Kubernetes refuses", strings.Replace(chart, "documented", "rendered", 1) + w + "  renders:\n    - values: a\n      workloads:\n        - {kind: DaemonSet, name: w, pod: {tolerations: [{key: a, oprator: Exists}]}}\n", nil, "footprints/thing.yaml:12:76 pod-field", "oprator"},
		{"no namespace", strings.Replace(goodFootprint, "namespace: things", "unverified: []", 1), map[string]string{"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, helm: {defaultRepository: https://example.com, defaultVersion: v1.0.0}}\n"}, "overlays/base.yaml:6:14 footprint-shape", "namespace of"},
		{"a manifest of invalid YAML", goodFootprint, with(overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n"), map[string]string{"components/thing/m.yaml": "kind: A\n---\nkind: [\n"}), "components/thing/m.yaml:3:1 manifest", ""},
		{"a manifest with pods", goodFootprint, with(overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n"), map[string]string{"components/thing/m.yaml": deployment}), "components/thing/m.yaml:5:18 no-class", "Deployment extra"},
		{"a template with pods", goodFootprint, with(overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n"), map[string]string{"components/thing/m.yaml": deployment + "# {{ .Values.x }}\n"}), "components/thing/m.yaml manifest", "template with pods"},
		{"a pod that Kubernetes refuses", goodFootprint, with(overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n"), map[string]string{"components/thing/m.yaml": strings.Replace(deployment, "nodeSelector", "nodeSelectr", 1)}), "components/thing/m.yaml:12:20 pod-field", "nodeSelectr"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := made(t, tiny(tt.footprint, "{}", tt.files))
			told(t, problems, tt.want, tt.part)
		})
	}
}

// The first document is a comment, the object begins in line 3.
const deployment = `# a comment
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: extra, namespace: elsewhere}
spec:
  replicas: 2
  template:
    metadata:
      labels: {app: extra}
    spec:
      nodeSelector: {role: system}
      initContainers:
        - {name: big, resources: {requests: {memory: 2Gi}}}
        - {name: side, restartPolicy: Always, resources: {requests: {cpu: 50m}}}
      containers:
        - {name: a, resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {nvidia.com/gpu: "1"}}}
        - {name: b, resources: {limits: {cpu: 200m}}, ports: [{containerPort: 80, hostPort: 8080}]}
`

// Pod templates in the manifests of a component are pods too.
func TestPodsOfManifests(t *testing.T) {
	t.Parallel()
	manifest := map[string]string{"components/thing/m.yaml": deployment}
	entry := "    - {kind: Deployment, name: extra, class: any}\n"
	alone := "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, manifest: {defaultNamespace: things}}\n"
	tests := []struct {
		name, footprint, registry string
		want                      int
	}{
		{"in addition to a chart", goodFootprint[:strings.Index(goodFootprint, "  publishes")] + entry, "", 2},
		{"alone", "  source: documented\n  workloads:\n" + entry, alone, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := overlay("  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n")
			files["components/thing/m.yaml"] = manifest["components/thing/m.yaml"]
			if tt.registry != "" {
				files["registry.yaml"] = tt.registry
			}
			components, problems := made(t, tiny(tt.footprint, "{}", files))
			if len(problems) > 0 || len(components[0].Workloads) != tt.want {
				t.Fatalf("%+v, %v", components, problems)
			}
			w := components[0].Workloads[0]
			got := fmt.Sprintln(w.Kind, w.Name, w.Namespace, w.Class, w.Replicas, w.Pod.Labels, w.Pod.NodeSelector, w.Pod.HostPorts, w.Pod.Requests.Cpu(), w.Pod.Requests.Memory(), w.Pod.Requests["nvidia.com/gpu"])
			if want := "Deployment extra elsewhere any 2 map[app:extra] map[role:system] [8080] 350m 2Gi {{1 0} {<nil>} 1 DecimalSI}\n"; got != want {
				t.Errorf("got  %s want %s", got, want)
			}
		})
	}
}

// A component of manifests without pods needs no footprint.
func TestManifestsWithoutPods(t *testing.T) {
	t.Parallel()
	files := overlay("  componentRefs: [{name: quota, manifestFiles: [components/quota/q.yaml]}]\n")
	files["components/quota/q.yaml"] = "kind: List\nitems:\n  - {kind: ResourceQuota, metadata: {name: q}}\n---\nkind: ConfigMap\ndata: {a: '{{ b }}'}\n"
	files["registry.yaml"] = "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - {name: thing, helm: {defaultRepository: https://example.com, defaultVersion: v1.0.0, defaultNamespace: things}}\n  - {name: quota, manifest: {}}\n"
	components, problems := made(t, tiny(goodFootprint, "{}", files))
	if len(problems) > 0 || len(components) != 2 || components[0].Name != "quota" || len(components[0].Workloads) != 0 {
		t.Errorf("%+v, %v", components, problems)
	}
}

const renderedFootprint = `  chart: {repository: https://example.com, name: thing, version: v1.0.0}
  source: rendered
  defaults: {size: 1, on: false}
  workloads:
    - {kind: DaemonSet, name: agent, class: accelerated, discovers: true}
    - {kind: Deployment, name: w, class: system}
    - {kind: StatefulSet, name: made, class: system, createdBy: Thing, valuesFrom: {replicas: size}}
    - {kind: StatefulSet, name: not-made, class: system, createdBy: Thing, when: [on]}
  renders:
    - values: %s
      recipes: [eks]
      workloads:
        - {kind: Deployment, name: w, replicas: 2, pod: {nodeSelector: {role: system}, requests: {cpu: 1}}}
        - {kind: DaemonSet, name: agent}
    - values: other
      workloads:
        - {kind: Deployment, name: w, replicas: 9}
`

// A rendered footprint has the chart's pods from the lock of the values, and those
// that an operator makes from the rules.
func TestRendered(t *testing.T) {
	t.Parallel()
	digest, err := footprint.ValuesDigest(map[string]any{"size": int64(3)})
	if err != nil {
		t.Fatal(err)
	}
	components, problems := made(t, tiny(fmt.Sprintf(renderedFootprint, digest), "size: 3", nil))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, w := range components[0].Workloads {
		got = append(got, fmt.Sprintln(w.Kind, w.Namespace, w.Name, w.Class, w.CreatedBy, w.Discovers, w.Replicas, w.Pod.NodeSelector, w.Pod.Requests.Cpu()))
	}
	want := []string{"Deployment things w system  false 2 map[role:system] 1\n", "DaemonSet things agent accelerated  true 0 map[] 0\n", "StatefulSet things made system Thing false 3 map[] 0\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if components[0].Source != footprint.Rendered {
		t.Errorf("source is %q", components[0].Source)
	}
}

// The values that place the pods of a rendered component are checked at their positions in
// the values file, although the pods come from the lock.
func TestPlacingOfRendered(t *testing.T) {
	t.Parallel()
	registry := map[string]string{"registry.yaml": "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents:\n  - name: thing\n    helm: {defaultRepository: https://example.com, defaultVersion: v1.0.0, defaultNamespace: things}\n" +
		"    nodeScheduling: {system: {nodeSelectorPaths: [nodeSelector, a..b]}, accelerated: {tolerationPaths: [agent.tolerations, other]}}\n"}
	_, problems := made(t, tiny(fmt.Sprintf(renderedFootprint, "abc"), "nodeSelector: {gpu: true}\nagent:\n  tolerations: [{ky: a}]\n", registry))
	told(t, problems, "components/thing/values.yaml:1:21 footprint-value", "a quoted string")
	told(t, problems, "components/thing/values.yaml:3:22 pod-field", "ky")
	told(t, problems, "footprints/thing.yaml:13:3 not-rendered", "has no render")
}

// Results are copies: a change of one does not change the set.
func TestComponentsAreCopies(t *testing.T) {
	t.Parallel()
	loaded := shipped(t, nil)
	s := load(t, loaded)
	r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "gke", Accelerator: "gb200", OS: "cos", Intent: "training"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Components(r)
	before := fmt.Sprintf("%+v", first)
	for _, c := range first {
		for i := range c.Workloads {
			spoil(&c.Workloads[i].Pod)
		}
		for _, p := range c.Publishes {
			clear(p.Labels)
			clear(p.OnNodesWith)
		}
	}
	second, _ := s.Components(r)
	if after := fmt.Sprintf("%+v", second); strings.Count(after, "spoiled") > 0 || len(after) != len(before) {
		t.Error("a change of the first result is in the second")
	}
}

func spoil(p *footprint.Pod) {
	for key := range p.NodeSelector {
		p.NodeSelector[key] = "spoiled"
	}
	for key := range p.Labels {
		p.Labels[key] = "spoiled"
	}
	for i := range p.Tolerations {
		p.Tolerations[i].Key = "spoiled"
	}
	clear(p.Requests)
	for i := range p.TopologySpreadConstraints {
		p.TopologySpreadConstraints[i].TopologyKey = "spoiled"
	}
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil && p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = nil
	}
}

// The inputs say of a recipe what changes its pods, and nothing else does.
func TestInputs(t *testing.T) {
	t.Parallel()
	digest, err := footprint.ValuesDigest(map[string]any{"size": int64(3)})
	if err != nil {
		t.Fatal(err)
	}
	good := fmt.Sprintf(renderedFootprint, digest)
	inputs := func(text string) string {
		loaded, problems := tree.Load(tiny(text, "size: 3", nil), tree.Options{})
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		s, _ := footprint.Load(loaded)
		r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, in := range s.Inputs(r) {
			fmt.Fprintf(&b, "%s %s %s %s\n", in.Path, in.Part, in.Why, in.Digest)
		}
		return b.String()
	}
	before := inputs(good)
	if strings.Count(before, "footprints/thing.yaml ") != 2 || !strings.Contains(before, "renders/"+digest) {
		t.Errorf("inputs are %s", before)
	}
	for name, tt := range map[string]struct {
		old, with string
		changes   bool
	}{
		"a lock of other values": {"replicas: 9", "replicas: 8", false},
		"recipes, for people":    {"recipes: [eks]", "recipes: [aks]", false},
		"a comment":              {"  source", "  # why\n  source", false},
		"unverified facts":       {"  source", "  unverified: [all]\n  source", false},
		"the lock":               {"replicas: 2", "replicas: 3", true},
		"a class":                {"name: w, class: system", "name: w, class: any", true},
		"a default":              {"size: 1", "size: 2", true},
		"a quantity":             {"cpu: 1", "cpu: 2", true},
		"no lock":                {digest, "other2", true},
	} {
		if got := inputs(strings.Replace(good, tt.old, tt.with, 1)); (got != before) != tt.changes {
			t.Errorf("%s: changed is %v\n%s%s", name, got != before, before, got)
		}
	}
}

// A tree without footprints uses the shipped ones, and Shipped is true.
func TestTreesWithoutFootprints(t *testing.T) {
	t.Parallel()
	loaded, problems := tree.Load(tiny("", "{}", map[string]string{"footprints/thing.yaml": ""}), tree.Options{})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	s := load(t, loaded)
	if _, ok := s.Get("gpu-operator"); !s.Shipped || !ok {
		t.Error("the shipped footprints are missing")
	}
	r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, problems = s.Components(r)
	told(t, problems, "overlays/base.yaml:6:14 no-footprint", "thing has no footprint")
	if in := s.Inputs(r); len(in) != 1 || in[0].Path != "footprints/thing.yaml" || in[0].Digest != "" {
		t.Errorf("inputs are %v", in)
	}
}
