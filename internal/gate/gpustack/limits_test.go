package gpustack

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
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
			f.tooLarge.Placement.Wanted, f.tooLarge.Placement.Refused, f.tooLarge.Fits = 2, 2, 1
			f.fits.Placement.Wanted, f.fits.Placement.Bound, f.fits.Fits = 1, 1, 1
			f.fits.Placement.Nodes = map[string]string{"gang-gpu-01": "gpu-01"}
			for i := range f.operands {
				f.operands[i].Desired, f.operands[i].Ready, f.operands[i].Updated = 1, 1, 1
			}
		}, check.Passed, ""},
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
