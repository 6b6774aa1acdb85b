package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A cluster with two kinds of GPU nodes on different fabrics has two sites, as site detect says. Neither could pass: the operator's
// DaemonSets run on the nodes of both, and the nodes of the other site were not in the inventory.
func TestNodesOfAnotherSite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others []string
		nodes  []string
		want   check.Verdict
		says   string
	}{
		"declared":                 {[]string{"l40s-*"}, []string{"l40s-1", "l40s-2"}, check.Passed, "2 GPU nodes of the cluster are of other sites, and were not judged: l40s-1, l40s-2"},
		"declared, not there":      {[]string{"l40s-*"}, nil, check.Passed, ""},
		"not declared":             {nil, []string{"l40s-1"}, check.Failed, "l40s-1: has 4 GPUs and is not in the inventory"},
		"a node that no site has":  {[]string{"l40s-*"}, []string{"l40s-1", "gpu-77"}, check.Failed, "gpu-77: has 4 GPUs and is not in the inventory"},
		"another name is declared": {[]string{"l40s-2"}, []string{"l40s-1"}, check.Failed, "l40s-1: has 4 GPUs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			g.site.Inventory.OtherNodes = c.others
			f := healthy(g)
			for _, n := range c.nodes {
				f.nodes = append(f.nodes, nodeFigures{Name: n, Resources: map[string]resourceFigures{kube.GPUResource: {4, 0}}})
				for i := range f.operands {
					f.operands[i].Desired++
					f.operands[i].Pods = append(f.operands[i].Pods, operandPod{Pod: "x-" + n, Node: n, Why: "phase Pending"})
				}
			}
			j := plan.Judge(g, f.observations(t))
			text := said(j)
			if j.Verdict != c.want || !strings.Contains(text, c.says) {
				t.Errorf("%s, want %s with %q: %s", j.Verdict, c.want, c.says, text)
			}
		})
	}
}

func TestSlicesOfAnotherSite(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"l40s-*": 0, "h200-*": 1} {
		g, b := gate(t), &check.Builder{}
		g.site.Inventory.OtherNodes = []string{name}
		found := []sliceFigures{{Node: "l40s-1", GPUs: 4}}
		for _, n := range g.nodes {
			found = append(found, sliceFigures{Node: n, GPUs: g.wantGPUs, Slices: 1})
		}
		g.judgeSlices(b, check.Observation{ID: "slices"}, found)
		if b.Failures() != want {
			t.Errorf("%s: %d findings, want %d", name, b.Failures(), want)
		}
	}
}
