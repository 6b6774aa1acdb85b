package judge

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// nodepool: who makes nodes runs, and the NodePool can make GPU nodes.
func nodepool(l look) Result {
	needs := []string{snapshot.ProblemPools, snapshot.ProblemPrograms}
	wrong := l.programs()
	if !l.karpenter() {
		return l.nodeGroup(needs, wrong)
	}
	pool, there := l.pool(l.setup.Pool.Name)
	if there {
		wrong = append(wrong, l.poolFindings(pool)...)
	} else {
		wrong = append(wrong, finding("NodePool "+l.setup.Pool.Name, "NodePool "+l.setup.Pool.Name+" was not seen", "run again"))
	}
	if len(wrong) > 0 {
		return l.wait(pool.Ref, needs, wrong, check.Finding{})
	}
	c, _ := snapshot.Is(pool.Conditions, "Ready")
	r := l.pass(held(c), pool.Ref, "NodePool %s is ready: at most %d GPUs, instance types %s", pool.Name, pool.GPULimit, orElse(join(l.setup.Pool.InstanceTypes), "of any kind"))
	r.Findings = consolidationOff(pool)
	return r
}

// programs are what is wrong with the autoscaler and the scheduler.
func (l look) programs() []check.Finding {
	var wrong []check.Finding
	if p, stated := l.program("autoscaler"); stated && (l.karpenter() || !p.Absent) {
		wrong = append(wrong, programFindings(p, "the autoscaler", "site autoscale.controller")...)
	}
	if l.setup.Scheduler == kai {
		p, stated := l.program("scheduler")
		if !stated {
			p = snapshot.Program{Ref: snapshot.Ref{Kind: "Deployment", Name: "kai-scheduler"}, Absent: true}
		}
		wrong = append(wrong, programFindings(p, "the KAI scheduler", "site gpustack.gangScheduler")...)
	}
	return wrong
}

// nodeGroup: Cluster Autoscaler is only seen to run where it is not the cloud's
// own; that it is there proves nothing.
func (l look) nodeGroup(needs []string, wrong []check.Finding) Result {
	if len(wrong) > 0 {
		return l.wait(snapshot.Ref{}, needs, wrong, check.Finding{})
	}
	p, stated := l.program("autoscaler")
	if stated && !p.Absent {
		return l.pass(l.st.At, p.Ref, "%s runs; node group %s is judged by its scaling", p.Ref, l.setup.Pool.Name)
	}
	if unseen := l.unseen(needs); len(unseen) > 0 {
		return l.wait(snapshot.Ref{}, needs, nil, check.Finding{})
	}
	return notApplicable(l.autoscaler() + " is not visible in this cluster; node group " + l.setup.Pool.Name + " is judged by its scaling alone")
}

// poolFindings are what keeps a NodePool from making the nodes that are needed.
func (l look) poolFindings(p snapshot.Pool) []check.Finding {
	name := "NodePool " + p.Name
	if p.Absent || p.Gone() {
		return []check.Finding{finding(name, name+" is not there", "name an existing NodePool with --pool, or leave it out for one of the run's own")}
	}
	if out := notReady(p); out != nil {
		return out
	}
	if p.GPULimit < 0 {
		return []check.Finding{finding(name, name+" states no limit for nvidia.com/gpu: nothing bounds what it may buy", "set spec.limits of the NodePool, or run without --pool")}
	}
	need := (l.least() + 1) * max(1, l.setup.Scale.GPUs)
	if free := p.GPULimit - p.GPUs; free < need && p.GPUs == 0 {
		return []check.Finding{finding(name, fmt.Sprintf("the limit of %s is nvidia.com/gpu: %d, and the chain needs %d", name, p.GPULimit, need), "raise spec.limits of the NodePool")}
	} else if free < need && !l.setup.Pool.Own {
		return []check.Finding{finding(name, fmt.Sprintf("the limit of %s is nearly reached: its nodes have %d of at most %d GPUs, and the chain needs %d more", name, p.GPUs, p.GPULimit, need), "raise spec.limits of the NodePool, or run without --pool")}
	}
	return nil
}

// notReady says why a NodePool is not ready, from its conditions.
func notReady(p snapshot.Pool) []check.Finding {
	ready, ok := snapshot.Is(p.Conditions, "Ready")
	if ok {
		return nil
	}
	name := "NodePool " + p.Name
	for _, kind := range []string{"NodeClassReady", "ValidationSucceeded"} {
		c, fine := snapshot.Is(p.Conditions, kind)
		if c.Status == "" || fine {
			continue
		}
		remedy := "correct the NodePool: kubectl describe nodepool " + p.Name
		if kind == "NodeClassReady" {
			remedy = fmt.Sprintf("see %s: kubectl describe; site autoscale.nodeClass names it", p.NodeClass)
		}
		return []check.Finding{finding(name, fmt.Sprintf("%s is not ready: %s: %s", name, c.Reason, c.Message), remedy)}
	}
	if ready.Status == "" {
		return []check.Finding{finding(name, name+" has no Ready condition: Karpenter has not looked at it", "see that Karpenter runs and its log")}
	}
	return []check.Finding{finding(name, fmt.Sprintf("%s is not ready: %s: %s", name, ready.Reason, ready.Message), "correct the NodePool: kubectl describe nodepool "+p.Name)}
}

const (
	consolidateRemedy = "set spec.disruption.consolidateAfter of the NodePool, such as 30s"
	budgetRemedy      = "widen spec.disruption.budgets of the NodePool, or run outside the hours that it closes"
)

// consolidationOff says that a pool never removes a node by itself.
func consolidationOff(p snapshot.Pool) []check.Finding {
	name := "NodePool " + p.Name
	switch {
	case p.ConsolidateAfter == "Never":
		return []check.Finding{finding(name, "consolidation is disabled: consolidateAfter of "+name+" is Never", consolidateRemedy)}
	case slices.ContainsFunc(p.Budgets, func(b string) bool { return b == "0" || b == "0%" }):
		return []check.Finding{finding(name, fmt.Sprintf("the disruption budget of %s is 0 nodes (budgets: %s)", name, join(p.Budgets)), budgetRemedy)}
	default:
		return nil
	}
}
