package judge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// nodepool requires a running autoscaler and a NodePool that can create GPU nodes.
func nodepool(l lookup) Result {
	wrong := l.programs()
	if !l.karpenter() {
		return l.nodeGroup(wrong)
	}
	pool, existed := l.pool(l.setup.Pool.Name)
	if existed {
		wrong = append(wrong, l.poolFindings(pool)...)
	} else {
		wrong = append(wrong, finding("NodePool "+l.setup.Pool.Name, "run again", "NodePool %s was not observed", l.setup.Pool.Name))
	}
	if len(wrong) > 0 {
		return l.wait(pool.Ref, wrong, check.Finding{})
	}
	c, _ := snapshot.Is(pool.Conditions, "Ready")
	r := l.pass(transitionTime(c), pool.Ref, "NodePool %s is ready: at most %d GPUs, instance types %s", pool.Name, pool.GPULimit, cmp.Or(join(l.setup.Pool.InstanceTypes), "of any kind"))
	r.Findings = append(r.Findings, consolidationOff(pool)...)
	return r
}

// programs reports problems of the autoscaler and the scheduler.
func (l lookup) programs() []check.Finding {
	var wrong []check.Finding
	if p, found := l.program("autoscaler"); found {
		wrong = append(wrong, programFindings(p, "the autoscaler", "site autoscale.controller")...)
	}
	if l.setup.Scheduler == kai {
		p, found := l.program("scheduler")
		if !found {
			p = snapshot.Program{Ref: snapshot.Ref{Kind: "Deployment", Name: "kai-scheduler"}, Absent: true}
		}
		wrong = append(wrong, programFindings(p, "the KAI scheduler", "site gpustack.gangScheduler")...)
	}
	return wrong
}

// nodeGroup judges a Cluster Autoscaler that the cluster shows. One that the provider manages
// is not judged (see NotApplicable).
func (l lookup) nodeGroup(wrong []check.Finding) Result {
	if len(wrong) > 0 {
		return l.wait(snapshot.Ref{}, wrong, check.Finding{})
	}
	p, found := l.program("autoscaler")
	if !found {
		return l.unobserved(snapshot.Ref{}, finding(l.autoscaler(), "run again", "%s was not observed", l.autoscaler()))
	}
	return l.pass(l.st.At, p.Ref, "%s runs; node group %s is judged by its scaling", p.Ref, l.setup.Pool.Name)
}

// poolFindings reports what keeps a NodePool from creating the needed nodes.
func (l lookup) poolFindings(p snapshot.Pool) []check.Finding {
	name := "NodePool " + p.Name
	if p.Absent || p.Gone() {
		return []check.Finding{finding(name, "name an existing NodePool with --pool, or omit --pool to create one", "%s not found", name)}
	}
	if out := notReady(p); out != nil {
		return out
	}
	if p.GPULimit < 0 {
		return []check.Finding{finding(name,
			"set spec.limits of the NodePool, or run without --pool",
			"%s has no limit for nvidia.com/gpu: the number of GPUs that it may provision is unlimited", name)}
	}
	need := (l.minReplicas() + 1) * max(1, l.setup.Scale.GPUs)
	if free := p.GPULimit - p.GPUs; free < need && p.GPUs == 0 {
		return []check.Finding{finding(name,
			"raise spec.limits of the NodePool",
			"the limit of %s is nvidia.com/gpu: %d, the chain needs %d", name, p.GPULimit, need)}
	} else if free < need && !l.setup.Pool.Own {
		return []check.Finding{finding(name,
			"raise spec.limits of the NodePool, or run without --pool",
			"the limit of %s leaves too few GPUs: its nodes have %d of at most %d, the chain needs %d more", name, p.GPUs, p.GPULimit, need)}
	}
	return nil
}

// UnreadyPool reports why a NodePool of the run provisions no nodes yet; nil if it is ready.
func UnreadyPool(st snapshot.State, name string) []check.Finding {
	for _, p := range st.Pools {
		if p.Name == name && !p.Gone() && !p.Absent {
			return notReady(p)
		}
	}
	return []check.Finding{finding("NodePool "+name, "run again", "NodePool %s was not observed", name)}
}

// notReady reports why a NodePool is not ready, from its conditions.
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
		return []check.Finding{finding(name, remedy, "%s is not ready: %s: %s", name, c.Reason, c.Message)}
	}
	if ready.Status == "" {
		return []check.Finding{finding(name, "check that Karpenter runs; see its log", "%s has no Ready condition: Karpenter has not evaluated it", name)}
	}
	return []check.Finding{finding(name,
		"correct the NodePool: kubectl describe nodepool "+p.Name,
		"%s is not ready: %s: %s", name, ready.Reason, ready.Message)}
}

const (
	consolidateRemedy = "set spec.disruption.consolidateAfter of the NodePool, such as 30s"
	budgetRemedy      = "increase spec.disruption.budgets of the NodePool, or run outside its schedule"
)

// consolidationOff reports a pool that never removes a node.
func consolidationOff(p snapshot.Pool) []check.Finding {
	name := "NodePool " + p.Name
	switch {
	case p.ConsolidateAfter == "Never":
		return []check.Finding{finding(name, consolidateRemedy, "consolidation is disabled: consolidateAfter of %s is Never", name)}
	case slices.ContainsFunc(p.Budgets, func(b string) bool { return b == "0" || b == "0%" }):
		return []check.Finding{finding(name, budgetRemedy, "the disruption budget of %s is 0 nodes (budgets: %s)", name, join(p.Budgets))}
	default:
		return nil
	}
}
