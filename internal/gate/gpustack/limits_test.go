package gpustack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// The gate judges the requirements of the site, also if each is 1 or 0.
func TestWhatTheSiteDemands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		demand  func(g *Gate)
		change  func(f *facts)
		verdict check.Verdict
		says    string
	}{
		"one node": {func(g *Gate) { g.nodes = g.nodes[:1] }, func(f *facts) {
			f.nodes = f.nodes[:1]
			oneNode(f, 2, 2, 4)
		}, check.Passed, ""},
		"a gang of one pod proves no scheduler": {func(g *Gate) { g.nodes = g.nodes[:1] }, func(f *facts) {
			oneNode(f, 2, 1, 4)
		}, check.Unobserved, "want a gang of 2"},
		"one node with one GPU": {func(g *Gate) { g.nodes, g.resources = g.nodes[:1], map[string]int{kube.GPUResource: 1} }, func(f *facts) {
			oneGPU(f)
			oneNode(f, 1, 2, 0)
		}, check.Passed, ""},
		"one node with one GPU and a gang of one pod": {func(g *Gate) { g.nodes, g.resources = g.nodes[:1], map[string]int{kube.GPUResource: 1} }, func(f *facts) {
			oneGPU(f)
			oneNode(f, 1, 1, 0)
		}, check.Unobserved, "want a gang of 2"},
		"no node":     {func(g *Gate) { g.nodes = nil }, func(*facts) {}, check.Unobserved, "inventory has no GPU nodes"},
		"one operand": {func(g *Gate) { g.stack.Operands = g.stack.Operands[:1] }, func(*facts) {}, check.Passed, ""},
		"no operand":  {func(g *Gate) { g.stack.Operands = nil }, func(f *facts) { f.operands = []operandFigures{} }, check.Unobserved, "none was observed"},
		"no network":  {func(g *Gate) { g.network = "" }, func(f *facts) { delete(f.nodes[0].Resources, "rdma/ib") }, check.Passed, ""},
		"no ports":    {func(g *Gate) { g.wantPorts = 0 }, func(f *facts) { delete(f.nodes[0].Resources, "rdma/ib") }, check.Passed, ""},
		"one port": {func(g *Gate) { g.wantPorts = 1 }, func(f *facts) {
			for i := range f.nodes {
				f.nodes[i].Resources["rdma/ib"] = resourceFigures{1, 1}
			}
		}, check.Passed, ""},
		"one missing port": {func(g *Gate) { g.wantPorts = 1 }, func(f *facts) {
			for i := range f.nodes {
				delete(f.nodes[i].Resources, "rdma/ib")
			}
		}, check.Failed, "0 of rdma/ib"},
		"a refusal that is not a decision yet": {func(*Gate) {}, func(f *facts) { f.tooLarge.Undecided = "deadline exceeded" }, check.Unobserved, "no decision"},
		"a DaemonSet that wants fewer nodes than there are": {func(*Gate) {}, func(f *facts) {
			f.operands[0].Desired, f.operands[0].Ready, f.operands[0].Updated = 3, 3, 3
		}, check.Failed, "3"},
		"a policy without GPU nodes": {func(*Gate) {}, func(f *facts) { f.policy.Conditions[0].Reason = "NoGPUNodes" }, check.Failed, "detects none of the inventory's 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			tt.demand(g)
			tt.change(&f)
			j := plan.Judge(g, f.observations(t))
			said := []string{j.Reason}
			for _, f := range j.Findings {
				said = append(said, f.Message)
			}
			if j.Verdict != tt.verdict || !strings.Contains(strings.Join(said, " "), tt.says) {
				t.Errorf("%s: %s: %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}

// oneNode leaves one node with room for some pods, and a gang that fits with so many pods.
func oneNode(f *facts, fits, pods, gpus int) {
	f.nodes = f.nodes[:1]
	f.usage.Nodes = map[string]kube.Usage{"gpu-01": f.usage.Nodes["gpu-01"]}
	f.tooLarge.Fits, f.tooLarge.GPUsPerPod, f.tooLarge.FitsAfter = fits, max(1, gpus), fits
	f.tooLarge.Placement = workload.Placement{Wanted: fits + 1, Exist: fits + 1, Refused: fits + 1}
	f.fits.Fits, f.fits.GPUsPerPod, f.fits.FitsAfter = fits, gpus, fits
	f.fits.Placement = workload.Placement{Wanted: pods, Exist: pods, Bound: pods, Nodes: map[string]string{}}
	f.dns.Pods = nil
	for i := range pods {
		name := fmt.Sprintf("gang-%d", i)
		f.fits.Placement.Nodes[name] = "gpu-01"
		f.dns.Pods = append(f.dns.Pods, resolution{Pod: name, Node: "gpu-01", Addresses: f.dns.Addresses})
	}
	for i := range f.operands {
		f.operands[i].Desired, f.operands[i].Ready, f.operands[i].Updated = 1, 1, 1
	}
}

// oneGPU is a node with one GPU.
func oneGPU(f *facts) {
	f.nodes[0].Resources[kube.GPUResource] = resourceFigures{1, 1}
	f.usage.Nodes["gpu-01"] = kube.Usage{Allocatable: 1}
}

// The reason of a pass names the resources that were judged.
func TestAPassNamesTheResourcesThatWereJudged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		demand func(*Gate)
		named  bool
	}{
		"both":       {func(*Gate) {}, true},
		"no network": {func(g *Gate) { g.network = "" }, false},
		"no ports":   {func(g *Gate) { g.wantPorts = 0 }, false},
	} {
		g := gate(t)
		tt.demand(g)
		j := plan.Judge(g, healthy(g).observations(t))
		if j.Verdict != check.Passed || strings.Contains(j.Reason, "nvidia.com/gpu and rdma/ib of 4 nodes") != tt.named || strings.Contains(j.Reason, " and ") != tt.named {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}
