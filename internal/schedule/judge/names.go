package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

func classNodes(class footprint.Class) string {
	switch class {
	case footprint.Accelerated:
		return "GPU nodes"
	case footprint.System:
		return "system nodes"
	default:
		return "nodes"
	}
}

// node returns a node of the scenario.
func (p *plan) node(name string) (scenario.Node, bool) {
	i := slices.IndexFunc(p.scenario.Nodes, func(n scenario.Node) bool { return n.Name == name })
	if i < 0 {
		return scenario.Node{}, false
	}
	return p.scenario.Nodes[i], true
}

func (p *plan) untolerated(e expected, node string) (corev1.Taint, bool) {
	n, ok := p.node(node)
	if !ok {
		return corev1.Taint{}, false
	}
	return scenario.Untolerated(e.workload, n.Taints)
}

// at formats nodes with their class: "GPU nodes gpu-0 to gpu-3".
func (p *plan) at(nodes []string) string {
	byClass := map[footprint.Class][]string{}
	for _, name := range nodes {
		n, _ := p.node(name)
		byClass[n.Class] = append(byClass[n.Class], name)
	}
	var parts []string
	for _, class := range []footprint.Class{footprint.System, footprint.Accelerated, ""} {
		if names := byClass[class]; len(names) == 1 {
			parts = append(parts, strings.TrimSuffix(classNodes(class), "s")+" "+names[0])
		} else if len(names) > 1 {
			parts = append(parts, classNodes(class)+" "+ranges(names))
		}
	}
	return strings.Join(parts, " and ")
}

// ranges joins names and abbreviates consecutive ones: gpu-0 to gpu-3.
func ranges(names []string) string {
	type part struct {
		prefix string
		n      int
		name   string
	}
	var parts []part
	for _, name := range names {
		at := strings.LastIndexByte(name, '-') + 1
		n, err := strconv.Atoi(name[at:])
		if err != nil {
			at, n = len(name), -1
		}
		parts = append(parts, part{name[:at], n, name})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.n, b.n)) })
	var out []string
	for i := 0; i < len(parts); {
		j := i
		for j+1 < len(parts) && parts[j].n >= 0 && parts[j+1].prefix == parts[i].prefix && parts[j+1].n == parts[j].n+1 {
			j++
		}
		switch {
		case j-i >= 2:
			out = append(out, fmt.Sprintf("%s to %s", parts[i].name, parts[j].name))
		default:
			for _, p := range parts[i : j+1] {
				out = append(out, p.name)
			}
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}

// profile is the name of a node's profile.
func (p *plan) profile(node string) string {
	n, _ := p.node(node)
	if n.Shape == "" {
		return "of its nodes"
	}
	return n.Shape
}
