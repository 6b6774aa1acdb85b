package resources_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate/resources"
)

var h100 = criteria.Criteria{Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "training", Platform: "kubeflow"}

func resolved(t *testing.T) (*resolve.Result, *footprint.Set) {
	t.Helper()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	set, problems := footprint.Load(loaded)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	r, err := resolve.Resolve(loaded, h100, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r, set
}

func expect(t *testing.T, r *resolve.Result, set *footprint.Set) []string {
	t.Helper()
	objects, problems := resources.Expect(r, set)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	var out []string
	for _, o := range objects {
		out = append(out, strings.TrimSpace(o.Component+": "+o.Kind+" "+o.Namespace+"/"+o.Name+" "+o.CreatedBy))
	}
	return out
}

func TestExpectOfARecipe(t *testing.T) {
	t.Parallel()
	r, set := resolved(t)
	got := expect(t, r, set)
	for _, want := range []string{
		"gpu-operator: Deployment gpu-operator/gpu-operator",
		"gpu-operator: DaemonSet gpu-operator/nvidia-dcgm-exporter ClusterPolicy",
		"gpu-operator: DaemonSet gpu-operator/nvidia-device-plugin-daemonset ClusterPolicy",
		"kube-prometheus-stack: StatefulSet monitoring/prometheus-kube-prometheus-prometheus Prometheus",
		"kubeflow-trainer: Deployment kubeflow/jobset-controller",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not expected; there are\n%s", want, strings.Join(got, "\n"))
		}
	}
	unique := slices.Clone(got)
	slices.Sort(unique)
	if len(slices.Compact(unique)) != len(got) {
		t.Errorf("something is expected twice:\n%s", strings.Join(got, "\n"))
	}
}

// Expect omits the objects that a footprint condition or the recipe disables.
func TestExpectFollowsConditions(t *testing.T) {
	t.Parallel()
	r, set := resolved(t)
	has := func(name string) bool {
		return slices.ContainsFunc(expect(t, r, set), func(s string) bool { return strings.Contains(s, "/"+name) })
	}
	of := func(name string) *model.ComponentRef {
		c, ok := r.Component(name)
		if !ok {
			t.Fatal(name)
		}
		if c.Overrides == nil {
			c.Overrides = map[string]any{}
		}
		return c
	}
	if has("nvidia-node-status-exporter") || !has("gpu-feature-discovery") || !has("nvsentinel") && !has("labeler") {
		t.Error("not as the recipe is")
	}
	of("gpu-operator").Overrides["gfd"] = map[string]any{"enabled": false}
	of("gpu-operator").Overrides["nodeStatusExporter"] = map[string]any{"enabled": true}
	if has("gpu-feature-discovery") || !has("nvidia-node-status-exporter") {
		t.Error("conditions of values are not respected")
	}
	of("nvsentinel").Overrides["enabled"] = false
	if has("labeler") {
		t.Error("a disabled component is expected")
	}
	of("gpu-operator").ExpectedResources = append(of("gpu-operator").ExpectedResources, model.ExpectedResource{Kind: "Service", Namespace: "gpu-operator", Name: "nvidia-dcgm-exporter"})
	if !slices.Contains(expect(t, r, set), "gpu-operator: Service gpu-operator/nvidia-dcgm-exporter") {
		t.Error("an expectedResources entry of the recipe is missing")
	}
}

// A CronJob is scheduled as a Job, but the object in the cluster is a CronJob.
func TestExpectNamesTheObjectOfAManifest(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"overlays/base.yaml":      "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: base}\nspec:\n  componentRefs: [{name: thing, manifestFiles: [components/thing/m.yaml]}]\n",
		"overlays/eks.yaml":       "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: eks}\nspec: {criteria: {service: eks}}\n",
		"registry.yaml":           "kind: ComponentRegistry\napiVersion: aicr.run/v1\ncomponents: [{name: thing, manifest: {defaultNamespace: things}}]\n",
		"footprints/thing.yaml":   "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: thing}\nspec: {source: documented, workloads: [{kind: Job, name: clock, class: any}]}\n",
		"components/thing/m.yaml": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: clock}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: b}]}}}}}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, problems := tree.Load(files, tree.Options{})
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	set, problems := footprint.Load(loaded)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	r, err := resolve.Resolve(loaded, criteria.Criteria{Service: "eks"}, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := expect(t, r, set); !slices.Equal(got, []string{"thing: CronJob things/clock"}) {
		t.Errorf("got %v", got)
	}
}
