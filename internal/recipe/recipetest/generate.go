package recipetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
)

// Generate returns a tree of n overlays and the root: services, intents, accelerators,
// operating systems and platforms. It is deterministic, and loads and resolves without
// problems.
func Generate(n int, seed uint64) fstest.MapFS {
	return generate(n, seed, false)
}

func generate(n int, seed uint64, whole bool) fstest.MapFS {
	g := generator{files: fstest.MapFS{}, r: rand.New(rand.NewPCG(seed, 1)), left: n, whole: whole} //nolint:gosec // data for tests
	g.shared()
	services := max(1, n/250)
	for s := range services {
		g.service(fmt.Sprintf("cloud%03d", s))
	}
	for i := 0; g.left > 0; i++ { // the rest: overlays for numbers of nodes
		g.overlay(fmt.Sprintf("extra%05d", i), "cloud000", fmt.Sprintf("{service: cloud000, nodes: %d}", i+1))
	}
	return g.files
}

const generatedComponents = 12

type generator struct {
	files fstest.MapFS
	r     *rand.Rand
	left  int
	// whole: overlays name files, mixins and checks, and chart versions are those of registry
	// and footprints.
	whole bool
}

func (g *generator) write(path, format string, args ...any) {
	g.files[path] = &fstest.MapFile{Data: fmt.Appendf(nil, format, args...), Mode: 0o644}
}

// shared writes the registry, the root and values.
func (g *generator) shared() {
	var registry, base strings.Builder
	for i := range generatedComponents {
		name := component(i)
		fmt.Fprintf(&registry, "  - name: %s\n%s    helm: {defaultRepository: \"https://charts.example.com\", defaultChart: %s, defaultVersion: 1.%d.0, defaultNamespace: %s}\n", name, g.check(name), name, i, name)
		fmt.Fprintf(&base, "    - name: %s\n      type: Helm\n      valuesFile: components/%s/values.yaml\n", name, name)
		if i > 0 {
			fmt.Fprintf(&base, "      dependencyRefs: [%s]\n", component(g.r.IntN(i)))
		}
		g.write("components/"+name+"/values.yaml", "replicas: %d\nnodeSelector: {role: system}\nresources: {requests: {cpu: 100m, memory: 128Mi}}\n", 1+i%3)
	}
	g.write("registry.yaml", "apiVersion: aicr.run/v1beta1\nkind: ComponentRegistry\ncomponents:\n%s", registry.String())
	g.write("overlays/base.yaml", "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: base}\nspec:\n  constraints:\n    - {name: K8s.server.version, value: \">= 1.30\"}\n  componentRefs:\n%s", base.String())
}

func component(i int) string { return fmt.Sprintf("component-%02d", i) }

func (g *generator) service(service string) {
	g.overlay(service, "", fmt.Sprintf("{service: %s}", service))
	for _, intent := range []string{"training", "inference"} {
		parent := service + "-" + intent
		g.overlay(parent, service, fmt.Sprintf("{service: %s, intent: %s}", service, intent))
		for _, gpu := range []string{"a100", "h100", "h200", "b200", "gb200", "l40s"} {
			g.accelerator(service, intent, gpu, parent)
		}
	}
}

func (g *generator) accelerator(service, intent, gpu, base string) {
	name := gpu + "-" + base
	g.overlay(name, base, fmt.Sprintf("{service: %s, accelerator: %s, intent: %s}", service, gpu, intent))
	for _, os := range []string{"ubuntu", "rhel", "cos", "sles"} {
		with := gpu + "-" + service + "-" + os + "-" + intent
		g.overlay(with, name, fmt.Sprintf("{service: %s, accelerator: %s, os: %s, intent: %s}", service, gpu, os, intent))
		for _, platform := range []string{"kubeflow", "dynamo", "slurm"} {
			g.overlay(with+"-"+platform, with, fmt.Sprintf("{service: %s, accelerator: %s, os: %s, intent: %s, platform: %s}", service, gpu, os, intent, platform))
		}
	}
}

// overlay writes an overlay until the requested number is reached.
func (g *generator) overlay(name, base, criteria string) {
	if g.left <= 0 {
		return
	}
	g.left--
	var b strings.Builder
	fmt.Fprintf(&b, "kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata:\n  name: %s\nspec:\n", name)
	if base != "" {
		fmt.Fprintf(&b, "  base: %s\n", base)
	}
	fmt.Fprintf(&b, "  criteria: %s\n  constraints:\n    - {name: K8s.server.version, value: \">= 1.%d\"}\n  componentRefs:\n", criteria, 30+g.r.IntN(6))
	chosen := g.r.Perm(generatedComponents)[:1+g.r.IntN(3)]
	slices.Sort(chosen)
	for _, i := range chosen {
		fmt.Fprintf(&b, "    - name: %s\n", component(i))
		if patch := g.r.IntN(20); !g.whole {
			fmt.Fprintf(&b, "      version: 1.%d.%d\n", i, patch)
		}
		fmt.Fprintf(&b, "      overrides:\n        replicas: %d\n        settings: {key%d: {nested: value%d}}\n", 1+g.r.IntN(5), g.r.IntN(8), g.r.IntN(100))
		if g.whole {
			g.named(&b, i)
		}
	}
	if g.whole {
		g.more(&b)
	}
	g.write("overlays/"+name+".yaml", "%s", b.String())
}
