package resolve_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

func TestInputs(t *testing.T) {
	t.Parallel()
	r := must(t, load(t, recipetest.Small(), tree.Options{}), leaf, resolve.Options{})
	var got []string
	for _, in := range r.Inputs() {
		if len(in.Digest) != 64 {
			t.Errorf("%s has digest %q", in.Path, in.Digest)
		}
		got = append(got, strings.TrimSpace(in.Path+" "+in.Part)+" "+in.Why)
	}
	want := []string{
		"checks/gpu-operator/health-check.yaml check",
		"components/gpu-operator/manifests/kernel-module.yaml manifest",
		"components/gpu-operator/values-eks.yaml values",
		"components/gpu-operator/values.yaml values",
		"components/kubeflow-trainer/values.yaml values",
		"components/node-tuning/manifests/tuning.yaml manifest",
		"mixins/os-ubuntu.yaml mixin",
		"overlays/base.yaml root",
		"overlays/eks-training.yaml criteria",
		"overlays/eks.yaml criteria",
		"overlays/h100-any.yaml criteria",
		"overlays/h100-eks-training.yaml criteria",
		"overlays/h100-eks-ubuntu-training-kubeflow.yaml criteria",
		"overlays/monitoring-hpa.yaml criteria",
		"registry.yaml components/cert-manager registry",
		"registry.yaml components/gpu-operator registry",
		"registry.yaml components/kube-prometheus-stack registry",
		"registry.yaml components/kubeflow-trainer registry",
		"registry.yaml components/node-tuning registry",
		"registry.yaml components/prometheus-adapter registry",
		"validators/catalog.yaml validators/check-nvidia-smi check",
		"validators/catalog.yaml validators/expected-resources check",
		"validators/catalog.yaml validators/nccl-all-reduce-bw check",
		"validators/catalog.yaml validators/operator-health check",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// If a change of a file changes a recipe, it changes the recipe's inputs.
func TestInputsAreComplete(t *testing.T) {
	t.Parallel()
	before := load(t, recipetest.Small(), tree.Options{})
	changes := []struct{ path, old, new string }{
		{"registry.yaml", "v1.20.2", "v1.20.3"},
		{"registry.yaml", "defaultTag: v8.2.0", "defaultTag: v8.3.0"},
		{"overlays/base.yaml", "retention: 24h", "retention: 48h"},
		{"overlays/eks.yaml", "50Gi", "60Gi"},
		{"overlays/monitoring-hpa.yaml", "type: Helm", "version: 9.9.9"},
		{"overlays/h100-any.yaml", "v25.3.0", "v25.4.0"},
		{"overlays/aks/aks.yaml", "default: azure-managed", "default: operator-managed"},
		{"mixins/os-ubuntu.yaml", "24.04", "26.04"},
		{"components/gpu-operator/values.yaml", "570.86.16", "570.86.17"},
		{"components/gpu-operator/values-eks.yaml", "580.95.05", "580.95.06"},
		{"components/gpu-operator/manifests/kernel-module.yaml", "Example=1", "Example=2"},
		{"components/node-tuning/manifests/tuning.yaml", "tuning", "toning"},
		{"checks/gpu-operator/health-check.yaml", "gpu-operator", "gpu"},
		{"validators/catalog.yaml", "timeout: 30m", "timeout: 31m"},
		{"components/cert-manager/values.yaml", "", "replicas: 2\n"},
		{"components/kube-prometheus-stack/values.yaml", "", "replicas: 2\n"},
		{"overlays/new.yaml", "", "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: new}\nspec: {criteria: {service: eks}, componentRefs: [{name: cert-manager, version: v9}]}\n"},
	}
	for _, c := range changes {
		t.Run(c.path+" "+c.old, func(t *testing.T) {
			t.Parallel()
			fsys := recipetest.Small()
			text := c.new
			if c.old != "" {
				text = string(bytes.Replace(fsys[c.path].Data, []byte(c.old), []byte(c.new), 1))
			}
			after := load(t, recipetest.Edit(fsys, map[string]string{c.path: text}), tree.Options{})
			changed := 0
			for _, o := range before.Recipes() {
				a, errA := resolve.Resolve(before, o.Criteria, resolve.Options{})
				b, errB := resolve.Resolve(after, o.Criteria, resolve.Options{})
				if errA != nil || errB != nil {
					t.Fatal(errA, errB)
				}
				digestA, _ := a.Digest()
				digestB, _ := b.Digest()
				same := slices.Equal(a.Inputs(), b.Inputs())
				if same && digestA != digestB {
					t.Errorf("%s differs, but its inputs are equal", o.Name)
				}
				if !same {
					changed++
				}
			}
			if strings.HasSuffix(c.path, "/values.yaml") && c.old == "" {
				return // only read where an overlay names a values file
			}
			if changed == 0 || changed == len(before.Recipes()) && !everywhere(c.path) {
				t.Errorf("the inputs of %d of %d recipes differ", changed, len(before.Recipes()))
			}
		})
	}
}

func everywhere(path string) bool {
	switch path {
	case "overlays/base.yaml", "overlays/monitoring-hpa.yaml", "registry.yaml", "components/gpu-operator/values.yaml", "checks/gpu-operator/health-check.yaml":
		return true
	default:
		return false
	}
}
