package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// TestFabricManager covers how the manager is seen: by its unit, by its process, or not at all.
func TestFabricManager(t *testing.T) {
	t.Parallel()
	const of = "nvidia-fabricmanager@gpu-02"
	unit := func(load, active, sub string) checktest.Change {
		return checktest.Set(of, `.unit`, map[string]any{"load": load, "active": active, "sub": sub})
	}
	none, hidden := checktest.Set(of, `.processes`, 0), checktest.Set(of, `.processes`, checktest.LeftOut)
	noSystemd, other := checktest.Set(of, `.unit`, checktest.LeftOut), checktest.Set(of, `.version`, "570.124.06")
	absent, stopped := unit("not-found", "inactive", "dead"), unit("loaded", "inactive", "dead")
	g := node.New(testSite(2), testProfile(t), node.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, observations(t, healthy(t, 2)), []checktest.Rule{
		checktest.When("a manager that was stopped", stopped, none).Fails("gpu-02", "does not run: the unit nvidia-fabricmanager is inactive (dead)"),
		checktest.When("a manager that failed", unit("loaded", "failed", "failed"), none).Fails("gpu-02", "failed (failed)"),
		checktest.When("a manager that is restarted again and again", unit("loaded", "activating", "auto-restart")).Fails("gpu-02", "does not stay up"),
		checktest.When("no unit and no process", absent, none).Fails("gpu-02", "the unit nvidia-fabricmanager is not-found"),
		checktest.When("no systemd and no process", noSystemd, none).Fails("gpu-02", "systemd does not answer"),
		checktest.When("no unit and hidden processes", absent, hidden).Unobserved("gpu-02", "are hidden"),
		checktest.When("a stopped unit and hidden processes", stopped, hidden).Unobserved("gpu-02", "are hidden"),
		checktest.When("neither systemd nor processes", noSystemd, hidden).Unobserved("gpu-02", "are hidden"),
		checktest.When("a unit that runs without a process", none).Unobserved("gpu-02", "no process nv-fabricmanager is found"),
		checktest.When("no manager on the machine, whose GPUs have joined", absent, none, checktest.Set(of, `.version`, checktest.LeftOut)).Passes(),
		checktest.When("another version than the driver's", other).Fails("gpu-02", "will not start at the next boot"),
		checktest.When("another version, without systemd", other, noSystemd).Fails("gpu-02", "will not start at the next boot"),
		checktest.When("a unit that runs, with hidden processes", hidden).Passes(),
		checktest.When("a manager in a container", absent, checktest.Set(of, `.version`, checktest.LeftOut)).Passes(),
		checktest.When("a manager in a container, and an unused program on the host", stopped, other).Passes(),
		checktest.When("no systemd, and a process", noSystemd).Passes(),
	})
}

// A machine without a manager whose GPUs have not joined the fabric fails: nothing manages its switches.
func TestNoFabricManagerAnywhere(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	hosts[1].Manager = nvidia.FabricManager{Unit: &nvidia.Unit{Load: "not-found", Active: "inactive", Sub: "dead"}, Processes: new(0)}
	for i := range gpusPerNode {
		hosts[1].gpu(i, func(g *nvidia.GPU) { g.FabricState, g.FabricStatus = "", "" })
	}
	checktest.Judged(t, judge(t, hosts), check.Failed, "gpu-02", "the fabric manager does not run")
}

func TestTheFabricManagerIsNotObserved(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	hosts[1].Gone["nvidia-fabricmanager"] = true
	checktest.Judged(t, judge(t, hosts), check.Unobserved, "gpu-02", "nvidia-fabricmanager was not run")
}

// The switches of a domain of several nodes have the manager, GPUs without switches none: the host
// is not asked.
func TestNoFabricManagerOnTheHost(t *testing.T) {
	t.Parallel()
	for name, domain := range map[string]*profile.Figure{"no switches": nil, "18 nodes": {Value: 18}} {
		p := testProfile(t)
		p.Node.NVLinkDomain = domain
		s, hosts := testSite(2), healthy(t, 2)
		s.NVLink.IMEX = site.IMEXByDRA
		for _, h := range hosts {
			h.Gone["nvidia-fabricmanager"] = true
			for i := range gpusPerNode {
				h.gpu(i, func(g *nvidia.GPU) { g.FabricCluster, g.FabricClique = "00000001-0000-0000-0000-000000000001", "32766" })
			}
		}
		if j := plan.Judge(node.New(s, p, node.Deps{}), observations(t, hosts)); j.Verdict != check.Passed {
			t.Errorf("%s: %s: %+v", name, j.Verdict, j.Findings)
		}
	}
}
