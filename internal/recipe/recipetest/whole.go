package recipetest

import (
	"fmt"
	"strings"
	"testing/fstest"
)

// Whole is Generate with every feature of recipes: values files of services, manifests, checks,
// mixins, footprints, node profiles and accelerators. Every recipe can be tested.
func Whole(n int, seed uint64) fstest.MapFS {
	files := generate(n, seed, true)
	g := generator{files: files}
	g.write("README.md", "# Generated\n")
	for i, name := range []string{"os-a", "os-b"} {
		g.write("mixins/"+name+".yaml", "kind: RecipeMixin\napiVersion: aicr.run/v1beta1\nmetadata: {name: %s}\nspec:\n  constraints:\n    - {name: OS.release.%s, value: \"%d\"}\n", name, name, i)
	}
	var checks strings.Builder
	for i := range generatedChecks {
		fmt.Fprintf(&checks, "  - {name: check-%d, phase: deployment, timeout: %dm}\n", i, 1+i)
	}
	g.write("validators/catalog.yaml", "kind: ValidatorCatalog\napiVersion: aicr.run/v1beta1\nvalidators:\n%s", checks.String())
	for i := range generatedComponents {
		g.part(i)
	}
	g.nodes(max(1, n/250))
	return files
}

const (
	generatedChecks = 4
	// generatedFiles is the number of values files and manifests of a component.
	generatedFiles = 3
)

// part writes the other files of a component: values, manifests, check, footprint.
func (g *generator) part(i int) {
	name := component(i)
	for k := range generatedFiles {
		g.write(fmt.Sprintf("components/%s/values-%d.yaml", name, k), "extra: {key: value%d}\n", k)
		g.write(fmt.Sprintf("components/%s/manifests/m%d.yaml", name, k), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s-%d}\n", name, k)
	}
	g.write("checks/"+name+"/health-check.yaml", "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: %s}\n", name)
	class, kind, pod, from := "system", "Deployment", "", "replicas: replicas, nodeSelector: nodeSelector, resources: resources"
	if i == 0 { // represents the component that makes nodes ready for GPUs
		class, kind, from = "accelerated", "DaemonSet", "resources: resources"
		pod = "\n      pod: {nodeSelector: {role: gpu}, tolerations: [{key: nvidia.com/gpu, operator: Exists}]}"
	}
	g.write("footprints/"+name+".yaml", `apiVersion: firstlight/v1
kind: Footprint
metadata: {name: %s}
spec:
  chart: {repository: "https://charts.example.com", name: %s, version: "1.%d.0"}
  source: documented
  documentedAt: [nowhere]
  defaults: {replicas: 1}
  workloads:
    - kind: %s
      name: %s
      class: %s%s
      valuesFrom: {%s}
`, name, name, i, kind, name, class, pod, from)
}

// nodes writes the profiles of each service, and the accelerators.
func (g *generator) nodes(services int) {
	gpus := []string{"a100", "h100", "h200", "b200", "gb200", "l40s"}
	var list strings.Builder
	for _, gpu := range gpus {
		fmt.Fprintf(&list, "  - {name: %s, arch: [amd64], products: [GPU-%s], maxPerNode: 8}\n", gpu, gpu)
	}
	g.write("accelerators.yaml", "apiVersion: firstlight/v1\nkind: Accelerators\naccelerators:\n%s", list.String())
	for s := range services {
		service := fmt.Sprintf("cloud%03d", s)
		g.node(service, "system", "")
		for i, gpu := range gpus {
			generic := ""
			if i == 0 {
				generic = `, generic: "true"`
			}
			g.node(service, "gpu", ", accelerator: "+gpu+generic)
		}
	}
}

func (g *generator) node(service, role, labels string) {
	name, kind, more := service+"-"+role, "system", ""
	if role == "gpu" {
		gpu, _, _ := strings.Cut(strings.TrimPrefix(labels, ", accelerator: "), ",")
		name, kind = service+"-"+gpu, "accelerated"
		more = "\n  gpu: {product: GPU-" + gpu + ", count: 8}\n  taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]\n" +
			"  extendedResources: [{name: nvidia.com/gpu, quantity: \"8\", use: gpu, from: provider}]"
	}
	g.write("nodes/"+service+"/"+name+".yaml", `apiVersion: aicr.run/v1beta1
kind: KWOKNodeProfile
metadata:
  name: %s
  labels: {provider: %s, nodeType: %s%s}
spec:
  instanceType: %s
  arch: amd64
  count: 2
  resources: {cpu: "64", memory: 512Gi, storage: 400Gi, pods: "110"}
  labels: {role: %s}%s
`, name, service, kind, labels, name, role, more)
}

// named writes the files of a component that an overlay names.
func (g *generator) named(b *strings.Builder, i int) {
	if g.r.IntN(3) == 0 {
		fmt.Fprintf(b, "      valuesFile: components/%s/values-%d.yaml\n", component(i), g.r.IntN(generatedFiles))
	}
	if g.r.IntN(4) == 0 {
		fmt.Fprintf(b, "      manifestFiles: [components/%s/manifests/m%d.yaml]\n", component(i), g.r.IntN(generatedFiles))
	}
}

// more writes the other keys of an overlay.
func (g *generator) more(b *strings.Builder) {
	if g.r.IntN(5) == 0 {
		b.WriteString("  mixins: [" + []string{"os-a", "os-b"}[g.r.IntN(2)] + "]\n")
	}
	if g.r.IntN(5) == 0 {
		fmt.Fprintf(b, "  validation: {deployment: {checks: [check-%d]}}\n", g.r.IntN(generatedChecks))
	}
}

// check returns the health check of a registry entry.
func (g *generator) check(name string) string {
	if !g.whole {
		return ""
	}
	return "    healthCheck: {assertFile: checks/" + name + "/health-check.yaml}\n"
}
