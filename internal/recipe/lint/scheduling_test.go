package lint_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/lint"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/recipes"
)

// The tree that ships has nothing wrong.
func TestTheShippedTreeIsClean(t *testing.T) {
	t.Parallel()
	if r := lint.Run(tree.Load(recipes.FS, tree.Options{Label: "recipes"})); len(r.Problems) > 0 || r.Recipes < 60 {
		t.Errorf("%d recipes: %v", r.Recipes, r.Problems)
	}
}

// few is a part of the tree that ships: EKS with H100 and A100. Files in it may be
// replaced, not written to.
func few() fstest.MapFS { return maps.Clone(fewOnce()) }

var fewOnce = sync.OnceValue(func() fstest.MapFS {
	all := recipetest.Copy(recipes.FS)
	overlays := []string{"base", "eks", "eks-training", "eks-amazonlinux", "h100-eks-amazonlinux-training", "a100-eks-amazonlinux-training"}
	profiles := []string{"eks-p5-48xlarge", "eks-p4d-24xlarge", "eks-p4de-24xlarge", "eks-system-m7i-4xlarge"}
	for name := range all {
		dir, file, _ := strings.Cut(name, "/")
		file = strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".yaml")
		if dir == "overlays" && !slices.Contains(overlays, file) || dir == "nodes" && !slices.Contains(profiles, file) {
			delete(all, name)
		}
	}
	return all
})

func told(problems diag.List) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s:%d %s %s", p.File, p.Line, p.Severity, p.Rule))
	}
	return out
}

// Every rule on profiles, footprints and accelerators speaks when a good tree is
// broken in that way, and only then.
func TestSchedulingRules(t *testing.T) {
	t.Parallel()
	good := lint.Run(tree.Load(few(), tree.Options{}))
	if good.Errors+good.Warnings > 0 || good.Recipes != 5 {
		t.Fatalf("%d recipes: %v", good.Recipes, good.Problems)
	}
	before, cache := told(good.Problems), &tree.Cache{}
	const (
		p5, p4d, system = "nodes/eks/eks-p5-48xlarge.yaml", "nodes/eks/eks-p4d-24xlarge.yaml", "nodes/eks/eks-system-m7i-4xlarge.yaml"
		prom, nfd, gpus = "footprints/kube-prometheus-stack.yaml", "footprints/node-feature-discovery.yaml", "footprints/gpu-operator.yaml"
	)
	tests := []struct {
		name, file, old, with string
		// want is "rule severity"; where is file|text, the first line of the file that
		// has the text, or empty for the line of what was put in.
		want, where, part string
	}{
		{"an unused profile", p4d, "provider: eks", "provider: lke", "unused-profile note", p4d + "|name: eks-p4d", "no recipe uses a100 of lke"},
		{"a profile in another's directory", p4d, "provider: eks", "provider: gke", "profile-directory error", "", "provider gke"},
		{"a profile's name", p4d, "name: eks-p4d-24xlarge", "name: eks-p4d", "file-name warning", "", "eks-p4d"},
		{"a profile twice", p4d, "instanceType: p4d.24xlarge", "instanceType: p4de.24xlarge", "duplicate-profile warning", "nodes/eks/eks-p4de-24xlarge.yaml|instanceType", "like eks-p4d-24xlarge"},
		{"two defaults", p4d, `default: "false"`, `default: "true"`, "profile-choice error", "nodes/eks/eks-p4de-24xlarge.yaml|labels: {provider", "eks-p4d-24xlarge and eks-p4de-24xlarge both have"},
		{"no default", "nodes/eks/eks-p4de-24xlarge.yaml", `default: "true"`, `default: "false"`, "profile-choice error", p4d + "|labels: {provider", "no profile for a100 nodes of eks has the label default: set it on one of eks-p4d-24xlarge"},
		{"the only one is not the default", p5, `default: "true"`, `default: "false"`, "profile-choice error", "", "no profile for h100"},
		{"no generic one", p5, `, generic: "true"`, "", "profile-choice error", p4d + "|labels: {provider", "label generic"},
		{"two generic ones", p4d, `default: "false"`, `default: "false", generic: "true"`, "profile-choice error", p5 + "|labels: {provider", "both have the label generic"},
		{"no system nodes", system, "", "", "no-profile error", "overlays/eks.yaml|criteria:", "provider eks has no node profile for system nodes"},
		{"no profile of an accelerator", p5, "accelerator: h100", "accelerator: h200", "no-profile error", "overlays/h100-eks-amazonlinux-training.yaml|criteria:", "provider eks has no node profile with the accelerator h100: want one of a100, h200"},
		{"typo in an accelerator", p4d, "accelerator: a100", "accelerator: a10", "unknown-accelerator error", "", "did you mean a100?"},
		{"too many GPUs", p5, "count: 8", "count: 16", "gpu-count error", "", "16 GPUs: a node with h100 has at most 8"},
		{"another's product", p5, "product: NVIDIA-H100-80GB-HBM3", "product: NVIDIA-H200", "gpu-product error", "", "of h100: want one of"},
		{"typo in a product", p5, "product: NVIDIA-H100-80GB-HBM3", "product: NVIDIA-H100-80GB-HBM2", "gpu-product error", "", "did you mean NVIDIA-H100-80GB-HBM3?"},
		{"wrong architecture", p5, "arch: amd64", "arch: arm64", "gpu-arch error", "", "h100 is not available with arm64 hosts"},
		{"more allocatable than there is", p5, "allocatable: {cpu: ", "allocatable: {pods: 900, cpu: ", "allocatable error", "", "900 of pods is allocatable, but the node has"},
		{"fewer GPUs to ask for", p5, `name: nvidia.com/gpu, quantity: "8"`, `name: nvidia.com/gpu, quantity: "4"`, "gpu-device error", "", "has 8 GPUs, but pods can request 4"},
		{"no GPU to ask for", p5, "use: gpu", "use: fabric", "gpu-device error", p5 + "|name: nvidia.com/gpu", "pods can request 0"},
		{"no GPU taint", p5, "key: nvidia.com/gpu", "key: nvidia.com/gpus", "gpu-taint error", p5 + "|taints:", "no taint nvidia.com/gpu"},
		{"a taint that is only a wish", p5, "effect: NoSchedule", "effect: PreferNoSchedule", "gpu-taint error", p5 + "|taints:", "no taint"},
		{"a device from nowhere", p5, "from: gpu-operator", "from: gpu-oprator", "unknown-component error", "", "did you mean gpu-operator?"},
		{"a device that the component does not bring", p5, "from: aws-efa-k8s-device-plugin", "from: gpu-operator", "device-source error", p5 + "|vpc.amazonaws.com/efa", "vpc.amazonaws.com/efa is attributed to gpu-operator"},
		{"a device that no pod brings", gpus, "brings: [nvidia.com/gpu]", "brings: [nvidia.com/gpus]", "device-source error", p5 + "|name: nvidia.com/gpu", "nvidia.com/gpu is attributed to gpu-operator"},
		{"typo in what is brought", gpus, "brings: [nvidia.com/gpu]", "brings: [nvidia.com/gpus]", "key-typo warning", "", "no node has the resource nvidia.com/gpus"},
		{"labels that no component discovers", p5, "    node-feature-discovery:", "    node-feature-discvery:", "unknown-component error", "", "did you mean node-feature-discovery?"},
		{"an accelerator's limit", "accelerators.yaml", "products: [NVIDIA-H100-80GB-HBM3]\n    maxPerNode: 8", "products: [NVIDIA-H100-80GB-HBM3]\n    maxPerNode: 4", "gpu-count error", p5 + "|gpu: {product", "at most 4"},
		{"an error from loading a profile", p5, "instanceType:", "instanceTyp:", "unknown-key error", "", "instanceTyp"},

		{"a footprint of nothing", nfd, "metadata:\n  name: node-feature-discovery", "metadata:\n  name: node-feature-discvery", "unknown-component error", nfd + "|  name: ", "did you mean node-feature-discovery?"},
		{"a component without a footprint", nfd, "", "", "no-footprint error", "overlays/base.yaml|- name: node-feature-discovery", "component node-feature-discovery has no footprint"},
		{"a footprint's file", nfd, "metadata:\n  name: node-feature-discovery", "metadata:\n  name: node-discovery", "file-name warning", nfd + "|  name: ", "node-discovery is in the file"},
		{"another version", "registry.yaml", "defaultVersion: \"82.8.0\"", "defaultVersion: \"82.9.0\"", "footprint-version error", prom + "|chart: {", "82.9.0"},
		{"a version that an overlay pins", "overlays/eks.yaml", "    - name: aws-ebs-csi-driver\n", "    - name: aws-ebs-csi-driver\n      version: \"2.0.0\"\n", "footprint-version error", "overlays/eks.yaml|version: \"2.0.0\"", "2.0.0"},
		{"typo in a parameter", gpus, "operator.tolerations,", "operatr.tolerations,", "value-path warning", "", "operatr.tolerations"},
		{"typo in the last key", gpus, "operator.tolerations,", "operator.toleratons,", "value-path warning", "", "operator.toleratons"},
		{"typo in a condition", gpus, "when: [driver.enabled]", "when: [drivr.enabled]", "value-path warning", "", "drivr.enabled"},
		{"a lost selector and a wide toleration", "components/kube-prometheus-stack/values.yaml", "grafana:\n  nodeSelector:\n    aicr.run/node-type: system", "grafana:\n  tolerations: [{operator: Exists}]", "unplaced warning", "components/kube-prometheus-stack/values.yaml|tolerations: [{operator: Exists}]", "Deployment kube-prometheus-stack-grafana can run on GPU nodes"},
		{"typo in a selector", "components/cert-manager/values.yaml", "cainjector:\n  nodeSelector:\n    aicr.run/node-type: system", "cainjector:\n  nodeSelector:\n    aicr.run/nodetype: system", "key-typo warning", "components/cert-manager/values.yaml|nodetype", "no node has the label aicr.run/nodetype"},
		{"typo in a toleration", "components/gpu-operator/values.yaml", "key: nvidia.com/gpu\n", "key: nvidia.com/gpus\n", "key-typo warning", "", "no node has the taint nvidia.com/gpus"},
		{"typo in an affinity", "components/kai-scheduler/values.yaml", "- key: aicr.run/node-type", "- key: aicr.run/node-typ", "key-typo warning", "", "no node has the label aicr.run/node-typ"},
		{"typo in an overlay", "overlays/eks.yaml", "    - name: aws-ebs-csi-driver\n", "    - name: aws-ebs-csi-driver\n      overrides: {node: {tolerateAllTaints: false, tolerations: [{key: nvidia.com/gp, operator: Exists}]}}\n", "key-typo warning", "overlays/eks.yaml|overrides:", "nvidia.com/gp"},
		{"typo in a resource", "components/cert-manager/values.yaml", "webhook:\n", "webhook:\n  resources: {limits: {nvidia.com/gpus: 1}}\n", "key-typo warning", "components/cert-manager/values.yaml|gpus", "no node has the resource nvidia.com/gpus"},
		{"typo in what is hard-coded", "footprints/aws-efa-k8s-device-plugin.yaml", "key: node.kubernetes.io/instance-type", "key: node.kubernetes.io/instance-typ", "key-typo warning", "", "instance-typ"},
		{"a workload that does not exist", "overlays/base.yaml", "name: gpu-operator, namespace: gpu-operator}", "name: gpu-operatr, namespace: gpu-operator}", "expected-resource warning", "", "expects Deployment gpu-operator/gpu-operatr"},
		{"a workload that values switch off", "components/gpu-operator/values.yaml", "devicePlugin:\n  enabled: true", "devicePlugin:\n  enabled: false", "expected-resource warning", "overlays/base.yaml|nvidia-device-plugin-daemonset", "nvidia-device-plugin-daemonset"},
		{"a value of another type", "components/gpu-operator/values.yaml", "devicePlugin:\n  enabled: true", "devicePlugin:\n  enabled: \"true\"", "footprint-value error", "components/gpu-operator/values.yaml|enabled: \"true\"", "true or false"},
		{"an error from loading a footprint", nfd, "class: any", "class: some", "bad-value error", "", "some"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := few()
			was := string(fsys[tt.file].Data)
			if !strings.Contains(was, tt.old) {
				t.Fatalf("%s has no %q", tt.file, tt.old)
			}
			if fsys[tt.file] = (&fstest.MapFile{Data: []byte(strings.Replace(was, tt.old, tt.with, 1))}); tt.old == "" {
				delete(fsys, tt.file)
			}
			at, text, ok := strings.Cut(tt.where, "|")
			if !ok {
				at, text = tt.file, strings.TrimSpace(tt.with)
			}
			head, _, ok := strings.Cut(string(fsys[at].Data), text)
			if !ok {
				t.Fatalf("%s has no %q", at, text)
			}
			r := lint.Run(tree.Load(fsys, tree.Options{Cache: cache}))
			name, severity, _ := strings.Cut(tt.want, " ")
			want := fmt.Sprintf("%s:%d %s %s", at, 1+strings.Count(head, "\n"), severity, name)
			if slices.Contains(before, want) {
				t.Fatalf("%s is reported for the valid tree too", want)
			}
			for i, got := range told(r.Problems) {
				if got == want && strings.Contains(r.Problems[i].Message+r.Problems[i].Remedy, tt.part) {
					return
				}
			}
			t.Errorf("%s: %s is not among\n%v", want, tt.part, r.Problems.Without(rule.UnusedFile, rule.UnusedComponent))
		})
	}
}
