package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// Difference is one fact that distinguishes two recipes.
type Difference struct {
	// Path of the fact: "gpu-operator/nvidia-driver-daemonset tolerations",
	// "nodes gpu-0, gpu-1 allocatable nvidia.com/gpu".
	Path string `json:"path"`
	// A and B are the values as text; None where absent.
	A string `json:"a"`
	B string `json:"b"`
}

// None marks an absent fact, There a present one without a value.
const (
	None    = "none"
	Present = "present"
)

// Diff lists the differences of two scenarios; it is empty exactly when their fingerprints
// are equal.
func Diff(a, b scenario.Scenario) []Difference {
	if scenario.Fingerprint(a) == scenario.Fingerprint(b) {
		return nil
	}
	a, b = scenario.Canonical(a), scenario.Canonical(b)
	uneven := onOneSide(a, b)
	probe := values("probe", flat(a.Probe), flat(b.Probe))
	out := slices.Concat(
		together(compare(nodes(a, uneven), nodes(b, uneven), "node ")),
		compare(components(a), components(b), ""),
		probe,
		uneven,
		others(compare(controls(a, uneven), controls(b, uneven), "control "), probe),
	)
	if len(out) == 0 {
		// Equal facts with different fingerprints: not expected.
		out = append(out, Difference{Path: "nodes", A: named(a), B: named(b)})
	}
	return out
}

// facts maps paths to values.
type facts map[string]string

// objectFacts maps names to facts.
type objectFacts map[string]facts

func nodes(c scenario.Scenario, uneven []Difference) objectFacts {
	out := objectFacts{}
	for _, n := range c.Nodes {
		if name := n.Name; n.Control == "" || !has(uneven, n.Control) {
			n.Name = ""
			out[name] = flat(n)
		}
	}
	return out
}

// components returns components with their published labels, and their workloads.
func components(c scenario.Scenario) objectFacts {
	out := objectFacts{}
	for _, component := range c.Components {
		out[component.Name] = flat(footprint.Component{Publishes: component.Publishes})
		for _, w := range component.Workloads {
			key := component.Name + "/" + w.Name
			if _, twice := out[key]; twice {
				key += " (" + w.Kind + ")"
			}
			w.Name = ""
			out[key] = flat(w)
		}
	}
	return out
}

func controls(c scenario.Scenario, uneven []Difference) objectFacts {
	out := objectFacts{}
	for _, control := range c.Controls {
		if name := control.Name; !has(uneven, name) {
			control.Name = ""
			out[name] = flat(control)
		}
	}
	return out
}

// onOneSide lists the controls that apply to only one recipe. Their nodes and pods are not
// compared.
func onOneSide(a, b scenario.Scenario) []Difference {
	var out []Difference
	says := func(c scenario.Control) string {
		if c.NotApplicable != "" {
			return "not applicable"
		}
		return "applies"
	}
	for _, left := range a.Controls {
		for _, right := range b.Controls {
			if left.Name == right.Name && says(left) != says(right) {
				out = append(out, Difference{Path: "control " + left.Name, A: says(left), B: says(right)})
			}
		}
	}
	return out
}

func has(uneven []Difference, control string) bool {
	return slices.ContainsFunc(uneven, func(d Difference) bool { return d.Path == "control "+control })
}

// others drops differences of controls that repeat those of the probe, whose pods they
// copy.
func others(controls, probe []Difference) []Difference {
	return slices.DeleteFunc(controls, func(c Difference) bool {
		_, path, ok := strings.Cut(c.Path, " pods ")
		return ok && slices.ContainsFunc(probe, func(p Difference) bool { return p == Difference{Path: "probe " + path, A: c.A, B: c.B} })
	})
}

// compare lists the objects on one side only and the differences of the others. The
// workloads of a missing component are not listed.
func compare(a, b objectFacts, prefix string) []Difference {
	var out []Difference
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		of, _, _ := strings.Cut(name, "/")
		left, inA := a[name]
		right, inB := b[name]
		_, ofA := a[of]
		_, ofB := b[of]
		switch {
		case inA && inB:
			out = append(out, values(prefix+name, left, right)...)
		case of != name && ofA != ofB:
		case inA:
			out = append(out, Difference{Path: prefix + name, A: Present, B: None})
		default:
			out = append(out, Difference{Path: prefix + name, A: None, B: Present})
		}
	}
	return out
}

func values(of string, a, b facts) []Difference {
	var out []Difference
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		left, inA := a[path]
		right, inB := b[path]
		if inA == inB && left == right {
			continue
		}
		d := Difference{Path: strings.TrimSpace(of + " " + path), A: None, B: None}
		if inA {
			d.A = left
		}
		if inB {
			d.B = right
		}
		out = append(out, d)
	}
	return out
}

// together merges equal differences of several nodes.
func together(list []Difference) []Difference {
	type key struct{ path, a, b string }
	at := map[key]int{}
	var out []Difference
	var names [][]string
	for _, d := range list {
		name, path, _ := strings.Cut(strings.TrimPrefix(d.Path, "node "), " ")
		k := key{path, d.A, d.B}
		i, known := at[k]
		if !known {
			i = len(out)
			at[k] = i
			out, names = append(out, Difference{Path: path, A: d.A, B: d.B}), append(names, nil)
		}
		names[i] = append(names[i], name)
	}
	for i := range out {
		word := "nodes "
		if len(names[i]) == 1 {
			word = "node "
		}
		out[i].Path = strings.TrimSpace(word + strings.Join(names[i], ", ") + " " + out[i].Path)
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func named(c scenario.Scenario) string {
	var out []string
	for _, n := range c.Nodes {
		out = append(out, n.Name)
	}
	return fmt.Sprint(out)
}
