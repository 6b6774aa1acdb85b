package nodeprofile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

const goodProfile = `apiVersion: aicr.run/v1beta1
kind: KWOKNodeProfile
metadata:
  name: n
  labels: {provider: eks, nodeType: accelerated, accelerator: h100}
spec:
  instanceType: p5.48xlarge
  arch: amd64
  resources: {cpu: "192", memory: 2048Gi}
  allocatable: {cpu: 191900m}
  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8}
  labels: {aicr.run/node-type: accelerated}
  taints:
    - {key: nvidia.com/gpu, value: present, effect: NoSchedule}
  extendedResources:
    - {name: nvidia.com/gpu, quantity: "8", use: gpu, from: gpu-operator}
  discovered:
    gpu-operator: {nvidia.com/gpu.clique: a.0}
`

// Every way in which a profile can be wrong by itself is found, with its place.
func TestProblemsOfProfiles(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, old, with, want, part string }{
		{"another kind", "kind: KWOKNodeProfile", "kind: NodeProfile", "nodes/eks/n.yaml:2:7 unknown-kind", "must be KWOKNodeProfile"},
		{"unknown group", "aicr.run/v1beta1", "example.com/v1", "nodes/eks/n.yaml:1:13 api-group", "example.com/v1"},
		{"group without a version", "aicr.run/v1beta1", "firstlight/", "nodes/eks/n.yaml:1:13 api-group", "firstlight/"},
		{"typo in a key", "instanceType", "instancetype", "nodes/eks/n.yaml:7:3 unknown-key", "instancetype"},
		{"typo in an architecture", "arch: amd64", "arch: x86_64", "nodes/eks/n.yaml:8:9 bad-value", "amd64, arm64"},
		{"no YAML", "spec:", "spec: [", "nodes/eks/n.yaml:5:1 syntax", ""},
		{"no quantity", `cpu: "192"`, `cpu: many`, "nodes/eks/n.yaml:9:20 quantity", "many"},
		{"a negative quantity", `cpu: "192"`, `cpu: "-1"`, "nodes/eks/n.yaml:9:20 quantity", "-1"},
		{"no memory", ", memory: 2048Gi", "", "nodes/eks/n.yaml:9:14 missing", "memory"},
		{"an invalid allocatable quantity", "191900m", "191.9.1", "nodes/eks/n.yaml:10:22 quantity", "191.9.1"},
		{"parts of a device", `quantity: "8"`, `quantity: 7500m`, "nodes/eks/n.yaml:16:40 quantity", "must be a whole number"},
		{"more asked for than there is", `quantity: "8"`, `quantity: "8", request: "9"`, "nodes/eks/n.yaml:16:54 quantity", "requests 9"},
		{"no name of a resource", "name: nvidia.com/gpu,", "name: gpu,", "nodes/eks/n.yaml:16:14 label-text", "extended resource"},
		{"a resource twice", `use: gpu, from: gpu-operator}`, "use: gpu, from: gpu-operator}\n    - {name: nvidia.com/gpu, quantity: \"8\", use: gpu, from: gpu-operator}", "nodes/eks/n.yaml:17:14 duplicate-entry", "duplicate"},
		{"use of a device", "use: gpu", "use: gpus", "nodes/eks/n.yaml:16:50 bad-value", "gpu, fabric"},
		{"a label's key", "labels: {aicr.run/node-type", "labels: {aicr.run/node/type", "nodes/eks/n.yaml:12:32 label-text", "aicr.run/node/type"},
		{"a label's value", "aicr.run/node-type: accelerated", "aicr.run/node-type: for GPUs", "nodes/eks/n.yaml:12:32 label-text", "for GPUs"},
		{"a label that discovery finds", "nvidia.com/gpu.clique: a.0", "nvidia.com/gpu.clique: -a", "nodes/eks/n.yaml:18:43 label-text", ""},
		{"a taint's key", "key: nvidia.com/gpu,", "key: nvidia.com/,", "nodes/eks/n.yaml:14:13 label-text", ""},
		{"a taint's effect", "effect: NoSchedule", "effect: NoShedule", "nodes/eks/n.yaml:14:53 bad-value", "NoSchedule"},
		{"a taint twice", "NoSchedule}", "NoSchedule}\n    - {key: nvidia.com/gpu, effect: NoSchedule}", "nodes/eks/n.yaml:15:13 duplicate-entry", "nvidia.com/gpu:NoSchedule"},
		{"no accelerator", ", accelerator: h100", "", "nodes/eks/n.yaml:5:11 profile-labels", "must have an accelerator label"},
		{"no GPUs", "  gpu: {product: NVIDIA-H100-80GB-HBM3, count: 8}\n", "", "nodes/eks/n.yaml:7:3 profile-labels", "must have spec.gpu"},
		{"no number of GPUs", "count: 8", "count: 0", "nodes/eks/n.yaml:11:48 missing", "count"},
		{"fewer than none", "count: 8", "count: -8", "nodes/eks/n.yaml:11:48 bad-value", "must be at least 1"},
		{"a system node with an accelerator", "nodeType: accelerated", "nodeType: system", "nodes/eks/n.yaml:5:58 profile-labels", "must not have the accelerator"},
		{"a system node with GPUs", "nodeType: accelerated, accelerator: h100", "nodeType: system", "nodes/eks/n.yaml:11:8 profile-labels", "must not have GPUs"},
		{"a generic system node", "nodeType: accelerated, accelerator: h100", "nodeType: system, generic: \"true\"", "nodes/eks/n.yaml:5:54 profile-labels", "selects among GPU nodes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(goodProfile, tt.old) {
				t.Fatalf("%q is not in the good profile", tt.old)
			}
			expect(t, map[string]string{"nodes/eks/n.yaml": strings.Replace(goodProfile, tt.old, tt.with, 1)}, tt.want, tt.part)
		})
	}
}

func expect(t *testing.T, files map[string]string, want, part string) {
	t.Helper()
	loaded, _ := tree.Load(recipetest.Edit(recipetest.Small(), files), tree.Options{})
	_, problems := nodeprofile.Load(loaded)
	for _, p := range problems {
		if got := fmt.Sprintf("%s %s", p.Pos, p.Rule); got == want && strings.Contains(p.Message, part) {
			return
		}
	}
	t.Errorf("%s: %s is not among\n%v", want, part, problems)
}

func TestTheGoodProfileIsGood(t *testing.T) {
	t.Parallel()
	loaded, _ := tree.Load(recipetest.Edit(recipetest.Small(), map[string]string{"nodes/eks/n.yaml": goodProfile}), tree.Options{})
	if s, problems := nodeprofile.Load(loaded); len(problems) > 0 || len(s.All()) != 1 {
		t.Error(s, problems)
	}
}

func TestProblemsBetweenFiles(t *testing.T) {
	t.Parallel()
	const accelerators = "apiVersion: firstlight/v1\nkind: Accelerators\naccelerators:\n  - {name: h100, arch: [amd64], products: [a], maxPerNode: 8}\n"
	tests := []struct {
		name       string
		files      map[string]string
		want, part string
	}{
		{"a name twice", map[string]string{"nodes/eks/n.yaml": goodProfile, "nodes/eks/o.yaml": goodProfile}, "nodes/eks/o.yaml:4:9 duplicate-name", "nodes/eks/n.yaml:4:9"},
		{"a file's name", map[string]string{"nodes/eks/n.yml": goodProfile}, "nodes/eks/n.yml file-extension", ".yml"},
		{"an accelerator twice", map[string]string{"accelerators.yaml": accelerators + "  - {name: h100, arch: [amd64], products: [a], maxPerNode: 8}\n"}, "accelerators.yaml:5:12 duplicate-entry", "first at line 4"},
		{"an architecture", map[string]string{"accelerators.yaml": strings.Replace(accelerators, "amd64", "x86", 1)}, "accelerators.yaml:4:25 bad-value", "amd64 or arm64"},
		{"none in a node", map[string]string{"accelerators.yaml": strings.Replace(accelerators, ": 8", ": -1", 1)}, "accelerators.yaml:4:60 bad-value", "must be at least 1"},
		{"no products", map[string]string{"accelerators.yaml": strings.Replace(accelerators, "[a]", "[]", 1)}, "accelerators.yaml:4:43 missing", "products"},
		{"a typo", map[string]string{"accelerators.yaml": strings.Replace(accelerators, "maxPerNode", "maxpernode", 1)}, "accelerators.yaml:4:48 unknown-key", "maxpernode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expect(t, tt.files, tt.want, tt.part)
		})
	}
}
