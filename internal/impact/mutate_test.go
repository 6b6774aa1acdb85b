package impact_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// mutation is one kind of change. It says whether it could be made.
type mutation struct {
	name string
	// leaf: of one overlay that nothing is based on, and nothing else.
	leaf bool
	do   func(m *mutator) bool
}

// mutator changes a tree.
type mutator struct {
	r     *rand.Rand
	files fstest.MapFS
	n     int // for names that are new
}

func newMutator(fsys fstest.MapFS, seed uint64) *mutator {
	return &mutator{r: rand.New(rand.NewPCG(seed, 7)), files: recipetest.Copy(fsys)}
}

// pick returns a file that matches; the order does not depend on maps.
func (m *mutator) pick(match func(p string) bool) (string, bool) {
	var there []string
	for _, p := range slices.Sorted(maps.Keys(m.files)) {
		if match(p) {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		return "", false
	}
	return there[m.r.IntN(len(there))], true
}

func (m *mutator) under(pattern string) (string, bool) {
	re := regexp.MustCompile(pattern)
	return m.pick(re.MatchString)
}

func (m *mutator) text(p string) string { return string(m.files[p].Data) }

func (m *mutator) set(p, text string) bool {
	m.files[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	return true
}

// sub replaces the first match of a pattern in a file.
func (m *mutator) sub(p, pattern, with string) bool {
	re := regexp.MustCompile(pattern)
	at := re.FindStringSubmatchIndex(m.text(p))
	if at == nil {
		return false
	}
	text := m.text(p)
	return m.set(p, text[:at[0]]+string(re.ExpandString(nil, with, text, at))+text[at[1]:])
}

func (m *mutator) number() int { m.n++; return 1000*m.n + m.r.IntN(1000) }

var nameLine = regexp.MustCompile(`(?m)^metadata:\s*(?:\{\s*name:|\n\s+name:)\s*([a-z0-9-]+)`)

func nameOf(text string) string {
	if g := nameLine.FindStringSubmatch(text); g != nil {
		return g[1]
	}
	return ""
}

// overlay picks an overlay; a leaf belongs only to its own recipe.
func (m *mutator) overlay(leaf bool) (string, bool) {
	t, _ := tree.Load(m.files, tree.Options{})
	var there []string
	for _, o := range t.Overlays {
		alone := o.Leaf() && o.Applies && !slices.ContainsFunc(t.Overlays, func(other *tree.Overlay) bool {
			return other != o && other.Applies && o.Criteria.Matches(other.Criteria)
		})
		if alone == leaf {
			there = append(there, o.File)
		}
	}
	if len(there) == 0 {
		return "", false
	}
	return there[m.r.IntN(len(there))], true
}

// constrain puts a constraint into an overlay's spec, as its first key.
func (m *mutator) constrain(p string) bool {
	if strings.Contains(m.text(p), "\n  constraints:\n") {
		return m.sub(p, `\n  constraints:\n`, fmt.Sprintf("\n  constraints:\n    - {name: K8s.made.up%d, value: \"x\"}\n", m.number()))
	}
	return m.sub(p, `(?m)^spec:\n`, fmt.Sprintf("spec:\n  constraints:\n    - {name: K8s.made.up%d, value: \"x\"}\n", m.number()))
}

var mutations = []mutation{
	{"edit a leaf", true, func(m *mutator) bool { p, ok := m.overlay(true); return ok && m.constrain(p) }},
	{"edit a comment of a leaf", true, func(m *mutator) bool {
		p, ok := m.overlay(true)
		return ok && m.set(p, m.text(p)+fmt.Sprintf("# %d\n", m.number()))
	}},
	{"edit an inner overlay", false, func(m *mutator) bool { p, ok := m.overlay(false); return ok && m.constrain(p) }},
	{"edit the root", false, func(m *mutator) bool { return m.constrain("overlays/base.yaml") }},
	{"edit values", false, func(m *mutator) bool {
		p, ok := m.under(`^components/[^/]+/values[^/]*\.yaml$`)
		return ok && m.set(p, m.text(p)+fmt.Sprintf("madeUp%d: true\n", m.number()))
	}},
	{"edit values that pods are made of", false, func(m *mutator) bool {
		p, ok := m.under(`^components/[^/]+/values\.yaml$`)
		return ok && m.sub(p, `(?m)^replicas: \d+`, fmt.Sprintf("replicas: %d", 1+m.r.IntN(9)))
	}},
	{"add values below those of an overlay", false, func(m *mutator) bool {
		p, ok := m.under(`^components/[^/]+/values\.yaml$`)
		if !ok {
			return false
		}
		delete(m.files, p)
		return true
	}},
	{"edit an entry of the registry", false, func(m *mutator) bool {
		text := m.text("registry.yaml")
		all := regexp.MustCompile(`defaultNamespace: [a-z0-9-]+`).FindAllStringIndex(text, -1)
		if all == nil {
			return false
		}
		at := all[m.r.IntN(len(all))]
		return m.set("registry.yaml", text[:at[1]]+fmt.Sprintf("-x%d", m.number())+text[at[1]:])
	}},
	{"add an entry to the registry", false, func(m *mutator) bool {
		return m.set("registry.yaml", m.text("registry.yaml")+fmt.Sprintf("\n  - name: made-up-%d\n    helm: {defaultRepository: https://charts.example.com, defaultChart: x, defaultVersion: 1.0.0}\n", m.number()))
	}},
	{"edit a footprint", false, func(m *mutator) bool {
		p, ok := m.under(`^footprints/`)
		return ok && m.sub(p, `(?m)^      class: system`, "      class: any")
	}},
	{"edit a description in a footprint", false, func(m *mutator) bool {
		p, ok := m.under(`^footprints/`)
		return ok && m.set(p, m.text(p)+"# more\n")
	}},
	{"delete a footprint", false, func(m *mutator) bool {
		p, ok := m.under(`^footprints/`)
		delete(m.files, p)
		return ok
	}},
	{"edit a profile", false, func(m *mutator) bool {
		p, ok := m.under(`^nodes/.*\.yaml$`)
		return ok && m.sub(p, `memory: \d+Gi`, fmt.Sprintf("memory: %dGi", 2000+m.number()))
	}},
	{"delete a profile", false, func(m *mutator) bool {
		p, ok := m.under(`^nodes/.*\.yaml$`)
		delete(m.files, p)
		return ok
	}},
	{"label another profile", false, func(m *mutator) bool {
		p, ok := m.under(`^nodes/.*\.yaml$`)
		return ok && m.sub(p, `accelerator: ([a-z0-9]+)\}`, `accelerator: $1, default: "true", generic: "true"}`)
	}},
	{"edit an accelerator", false, func(m *mutator) bool {
		if _, ok := m.files["accelerators.yaml"]; !ok {
			return false
		}
		return m.sub("accelerators.yaml", `maxPerNode: \d+`, fmt.Sprintf("maxPerNode: %d", 1+m.r.IntN(16)))
	}},
	{"edit a manifest", false, func(m *mutator) bool {
		p, ok := m.under(`^components/[^/]+/manifests/`)
		return ok && m.set(p, m.text(p)+fmt.Sprintf("# %d\n", m.number()))
	}},
	{"edit a check", false, func(m *mutator) bool {
		p, ok := m.under(`^checks/`)
		return ok && m.set(p, m.text(p)+fmt.Sprintf("# %d\n", m.number()))
	}},
	{"edit the catalogue", false, func(m *mutator) bool {
		p, ok := m.under(`^validators/`)
		return ok && m.sub(p, `timeout: (\d+)m`, fmt.Sprintf("timeout: %dm", 10+m.r.IntN(50)))
	}},
	{"edit a mixin", false, func(m *mutator) bool {
		p, ok := m.under(`^mixins/`)
		return ok && m.sub(p, `value: "?([0-9.]+)"?`, fmt.Sprintf("value: \"%d\"", m.number()))
	}},
	{"a mixin that conflicts", false, func(m *mutator) bool {
		p, ok := m.under(`^mixins/`)
		return ok && m.sub(p, `  constraints:\n`, fmt.Sprintf("  constraints:\n    - {name: K8s.server.version, value: \">= 9.%d\"}\n", m.number()))
	}},
	{"name a mixin", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		mixin, there := m.under(`^mixins/`)
		return ok && there && !strings.Contains(m.text(p), "mixins:") && m.sub(p, `(?m)^spec:\n`, "spec:\n  mixins: ["+nameOf(m.text(mixin))+"]\n")
	}},
	{"rename a file", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		if !ok {
			return false
		}
		m.set(strings.TrimSuffix(p, ".yaml")+"-moved.yaml", m.text(p))
		delete(m.files, p)
		return true
	}},
	{"rename a leaf", true, func(m *mutator) bool {
		p, ok := m.overlay(true)
		if !ok {
			return false
		}
		name := nameOf(m.text(p))
		m.set("overlays/"+name+"-renamed.yaml", strings.Replace(m.text(p), name, name+"-renamed", 1))
		delete(m.files, p)
		return true
	}},
	{"delete a leaf", true, func(m *mutator) bool {
		p, ok := m.overlay(true)
		delete(m.files, p)
		return ok
	}},
	{"delete an inner overlay", false, func(m *mutator) bool {
		p, ok := m.overlay(false)
		delete(m.files, p)
		return ok
	}},
	{"add a leaf", true, func(m *mutator) bool {
		p, ok := m.overlay(true)
		if !ok {
			return false
		}
		name, n := nameOf(m.text(p)), m.number()
		text := strings.Replace(m.text(p), name, fmt.Sprintf("%s-%d", name, n), 1)
		re := regexp.MustCompile(`criteria:\s*\{`)
		if at := re.FindStringIndex(text); at != nil && !strings.Contains(text, "nodes:") {
			text = text[:at[1]] + fmt.Sprintf("nodes: %d, ", n) + text[at[1]:]
		}
		return m.set(fmt.Sprintf("overlays/%s-%d.yaml", name, n), text)
	}},
	{"add an overlay by criteria", false, func(m *mutator) bool {
		n := m.number()
		dimension := []string{"intent: training", "accelerator: h100", "service: cloud000", "service: eks", "os: ubuntu", "intent: any"}[m.r.IntN(6)]
		return m.set(fmt.Sprintf("overlays/by-criteria-%d.yaml", n), fmt.Sprintf(
			"kind: RecipeMetadata\napiVersion: aicr.run/v1beta1\nmetadata: {name: by-criteria-%d}\nspec:\n  criteria: {%s}\n  constraints: [{name: K8s.made.up, value: \"%d\"}]\n", n, dimension, n))
	}},
	{"change criteria", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		return ok && m.sub(p, `intent: (training|inference)`, []string{"intent: training", "intent: inference", "intent: any"}[m.r.IntN(3)])
	}},
	{"move to another base", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		to, there := m.overlay(false)
		return ok && there && p != to && m.sub(p, `(?m)^  base: [a-z0-9-]+`, "  base: "+nameOf(m.text(to)))
	}},
	{"take the base away", false, func(m *mutator) bool {
		p, ok := m.overlay(true)
		return ok && m.sub(p, `(?m)^  base: [a-z0-9-]+\n`, "")
	}},
	{"depend on a missing component", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		return ok && m.sub(p, `(?m)^    - name: ([a-z0-9-]+)\n`, "    - name: $1\n      dependencyRefs: [made-up]\n")
	}},
	{"depend on each other", false, func(m *mutator) bool {
		p, ok := m.overlay(m.r.IntN(2) == 0)
		return ok && m.sub(p, `(?m)^    - name: ([a-z0-9-]+)\n`, "    - name: $1\n      dependencyRefs: [$1]\n")
	}},
	{"disable a component", false, func(m *mutator) bool {
		p, ok := m.overlay(true)
		return ok && m.sub(p, `(?m)^      overrides:\n`, "      overrides:\n        enabled: false\n")
	}},
	{"edit what people read", false, func(m *mutator) bool { return m.set("README.md", fmt.Sprintf("# %d\n", m.number())) }},
	{"break the YAML", false, func(m *mutator) bool {
		p, ok := m.overlay(true)
		return ok && m.set(p, m.text(p)+"\n  [\n")
	}},
	{"an unknown file", false, func(m *mutator) bool { return m.set(fmt.Sprintf("tools/%d.sh", m.number()), "true\n") }},
}
