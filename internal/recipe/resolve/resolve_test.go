package resolve_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func load(tb testing.TB, fsys fs.FS, o tree.Options) *tree.Tree {
	tb.Helper()
	o.Label = "recipes"
	loaded, problems := tree.Load(fsys, o)
	if err := problems.Err(); err != nil {
		tb.Fatal(err)
	}
	return loaded
}

func query(tb testing.TB, text string) criteria.Criteria {
	tb.Helper()
	q, err := criteria.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

func must(tb testing.TB, loaded *tree.Tree, q string, o resolve.Options) *resolve.Result {
	tb.Helper()
	r, err := resolve.Resolve(loaded, query(tb, q), o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		tb.Fatal(err)
	}
	return append(data, '\n')
}

const leaf = "service=eks,accelerator=h100,os=ubuntu,intent=training,platform=kubeflow"

func TestGoldens(t *testing.T) {
	t.Parallel()
	strict, legacy := load(t, recipetest.Small(), tree.Options{}), load(t, recipetest.Small(), tree.Options{Legacy: true})
	for _, tt := range []struct {
		name   string
		tree   *tree.Tree
		query  string
		compat bool
	}{
		{"leaf", strict, leaf, false},
		{"leaf-compat", legacy, leaf, true},
		{"aks", strict, "service=aks,accelerator=a100,intent=inference", false},
		{"aks-compat", legacy, "service=aks,accelerator=a100,intent=inference", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := must(t, tt.tree, tt.query, resolve.Options{Compat: tt.compat})
			golden.Compare(t, "testdata/"+tt.name+".json", encode(t, r.Recipe))
			doc, err := r.Document()
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+tt.name+"-document.json", encode(t, doc))
		})
	}
}

// The merge rules of the format, by kind of value.
func TestMerging(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	r := must(t, loaded, leaf, resolve.Options{})
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, selector string
		want           any
	}{
		{"the order: less specific first, then nearer to the root, then by name", "overlays",
			[]any{"base", "monitoring-hpa", "eks", "h100-any", "eks-training", "h100-eks-training", "h100-eks-ubuntu-training-kubeflow"}},
		{"a constraint keeps the fields that are not stated again", "constraints.K8s.server.version",
			map[string]any{"value": ">= 1.32", "severity": "error", "remediation": "upgrade the cluster"}},
		{"a nested override is merged", "components.gpu-operator.values.driver.rdma", map[string]any{"enabled": true, "useHostMofed": false}},
		{"an override over a values file", "components.gpu-operator.values.driver.enabled", true},
		{"a values file over the one below", "components.gpu-operator.values.driver.version", "580.95.05"},
		{"a values file keeps what is below", "components.gpu-operator.values.operator.nodeSelector", map[string]any{"aicr.run/node-type": "system"}},
		{"a null stays, for the chart", "components.kube-prometheus-stack.values.prometheus.prometheusSpec.storageSpec.emptyDir", nil},
		{"a sibling key is kept", "components.kube-prometheus-stack.values.prometheus.prometheusSpec.retention", "24h"},
		{"dependencies are joined", "components.gpu-operator.dependencyRefs", []any{"cert-manager", "kube-prometheus-stack", "node-tuning"}},
		{"an overlay's version", "components.gpu-operator.version", "v25.10.2"},
		{"the registry's version", "components.cert-manager.version", "v1.20.2"},
		{"the registry's chart without its repository", "components.cert-manager.chart", "cert-manager"},
		{"the registry's manifests", "components.node-tuning.manifestFiles", []any{"components/node-tuning/manifests/tuning.yaml"}},
		{"checks are joined", "validation.deployment.checks", []any{"operator-health", "expected-resources", "check-nvidia-smi"}},
		{"a phase keeps its timeout", "validation.deployment.timeout", "10m"},
		{"a phase's constraint from an overlay that only criteria bring in", "validation.deployment.constraints.Deployment.gpu-operator.version.value", ">= v25.3.0"},
		{"a phase's constraint keeps its unit", "validation.performance.constraints.nccl-all-reduce-bw", map[string]any{"value": ">= 320", "unit": "GB/s"}},
		{"a selector of nodes is one statement", "validation.performance.nodeSelection", map[string]any{"selector": map[string]any{"role": "trainer"}, "maxNodes": int64(8)}},
		{"a mixin's constraint", "constraints.OS.release.VERSION_ID.value", "24.04"},
		{"a mixin's value that the registry allows", "components.gpu-operator.values.dcgmExporter.enabled", true},
		{"the order of deployment", "deploymentOrder",
			[]any{"cert-manager", "kube-prometheus-stack", "kubeflow-trainer", "node-tuning", "gpu-operator", "prometheus-adapter"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, selected(t, doc, tt.selector)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDisabledComponent(t *testing.T) {
	t.Parallel()
	r := must(t, load(t, recipetest.Small(), tree.Options{}), "service=aks,accelerator=a100,intent=inference", resolve.Options{})
	if got := strings.Join(r.DeploymentOrder, " "); got != "cert-manager csi-snapshots network-operator gpu-operator prometheus-adapter" {
		t.Errorf("the order is %s", got)
	}
	want := []string{"recipes/overlays/base.yaml:17:38 disabled-dependency", "recipes/overlays/monitoring-hpa.yaml:12:24 disabled-dependency"}
	r = must(t, r.Tree(), "service=aks,accelerator=a100,intent=inference", resolve.Options{Explain: true})
	var warned []string
	for _, w := range r.Warnings {
		warned = append(warned, w.Pos.String()+" "+w.Rule)
	}
	if diff := cmp.Diff(want, warned); diff != "" {
		t.Error(diff)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	for profile, want := range map[string]any{"": false, "gpuStack=azure-managed": false, "gpuStack=operator-managed": true} {
		r := must(t, loaded, "service=aks", resolve.Options{Profile: profile})
		values, err := r.Values("gpu-operator")
		if err != nil {
			t.Fatal(err)
		}
		if got := selected(t, values, "driver.enabled"); got != want {
			t.Errorf("profile %q: the driver is enabled: %v", profile, got)
		}
		if p := r.Metadata.SelectedProfile; p == nil || profile != "" && p.Name+"="+p.Value != profile {
			t.Errorf("profile %q: selected is %v", profile, p)
		}
	}
	for q, profile := range map[string]string{"service=aks": "gpuStack=mine", "service=eks": "gpuStack=azure-managed", "service=aks,accelerator=h100": "gpuStack"} {
		if _, err := resolve.Resolve(loaded, query(t, q), resolve.Options{Profile: profile}); err == nil {
			t.Errorf("%s with profile %s resolves", q, profile)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	var set []resolve.Assignment
	for _, text := range []string{"gpuoperator:driver.version=999", `gpu-operator:daemonsets.env={a: [1, "2"]}`, "kube-prometheus-stack:enabled=false", "certmanager:webhook=null"} {
		a, err := resolve.ParseAssignment(text)
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, a)
	}
	r := must(t, loaded, "service=eks", resolve.Options{Set: set})
	doc, err := r.Document()
	if err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]any{
		"components.gpu-operator.values.driver":         map[string]any{"enabled": true, "version": int64(999)},
		"components.gpu-operator.values.daemonsets.env": map[string]any{"a": []any{int64(1), "2"}},
		"components.kube-prometheus-stack":              map[string]any{"enabled": false},
		"components.cert-manager.values":                map[string]any{"webhook": nil},
	} {
		if diff := cmp.Diff(want, selected(t, doc, selector)); diff != "" {
			t.Errorf("%s:\n%s", selector, diff)
		}
	}
	a, err := resolve.ParseAssignment("gpuoperatr:a=b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resolve.Resolve(loaded, query(t, "service=eks"), resolve.Options{Set: []resolve.Assignment{a}}); err == nil || !strings.Contains(err.Error(), "want one of cert-manager") {
		t.Errorf("unknown component: %v", err)
	}
	if a, err = resolve.ParseAssignment("gpuoperator:enabled=maybe"); err != nil {
		t.Fatal(err)
	}
	if _, err := resolve.Resolve(loaded, query(t, "service=eks"), resolve.Options{Set: []resolve.Assignment{a}}); err == nil || !strings.Contains(err.Error(), "true or false, not maybe") {
		t.Errorf("enabled is set to a string that is not a boolean: %v", err)
	}
	for _, text := range []string{"", "a", "a:b", "a=b", ":b=c", "a:=c", "a:b..c=d", "a:b=[", "a:b={x: 1, x: 2}"} {
		if got, err := resolve.ParseAssignment(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	for q, want := range map[string]string{
		"service=gke":                     "service=gke has no effect",
		"service=eks,platform=kubeflow":   "platform=kubeflow is available in: service=eks accelerator=h100 os=ubuntu intent=training platform=kubeflow",
		"service=eks,intent=inference":    "intent available with the other criteria: training\n    intent=inference is available in: service=aks accelerator=a100 intent=inference",
		"service=aks,os=ubuntu,nodes=3":   "nodes=3 has no effect",
		"service=self-managed":            "service=generic has no effect: no matching overlay has it\n    service available with the other criteria: aks, eks",
		"service=aks,accelerator=a100":    "accelerator=a100 is available in: service=aks accelerator=a100 intent=inference",
		"service=eks,accelerator=a100":    "accelerator available with the other criteria: h100\n    accelerator=a100 is available in",
		"accelerator=h100,os=amazonlinux": "os available with the other criteria: ubuntu",
	} {
		r, err := resolve.Resolve(loaded, query(t, q), resolve.Options{})
		c, ok := errors.AsType[*resolve.CoverageError](err)
		if !ok {
			t.Errorf("%s: %v, %v", q, r, err)
			continue
		}
		if !strings.Contains(c.Error(), want) {
			t.Errorf("%s:\n%v\nlacks %s", q, c, want)
		}
	}
	for _, q := range []string{"service=eks,accelerator=h100", "accelerator=h100", leaf} {
		must(t, loaded, q, resolve.Options{})
	}
}
