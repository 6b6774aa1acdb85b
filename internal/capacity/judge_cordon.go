package capacity

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	remedyCordon   = "kubectl cordon %[1]s, and wait until its pods have ended; or state in notCordoned of the file of new nodes why it needs no cordon"
	remedyJoin     = "join it to the cluster behind a cordon (kubectl describe node %[1]s), then add it again"
	remedyGang     = "name another scheduler of the cluster for this run (--site: gpustack.gangScheduler: native, volcano or kueue); or keep workloads off the new nodes by a taint instead, which workloads.pod.spec.tolerations tolerates, and state that in notCordoned of the file of new nodes"
	remedyAccepted = "repair %[1]s, or uncordon it once the reason for the cordon is resolved; or accept the cluster without it first"
)

// Judge implements check.Check.
func (c cordon) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	added := c.Nodes()
	if len(added) == 0 {
		return check.NotObserved("no new node")
	}
	found, o, ok := check.Require[map[string]nodeFigures](&b, obs, kindNodes, targetCluster, "nodes", "make the API server answer GET nodes")
	if !ok {
		return b.Judgement("")
	}
	for _, name := range added {
		n, in := found[name]
		fail := func(remedy, format string, args ...any) {
			b.Fail(o.ID, name, fmt.Sprintf(remedy, name), format, args...)
		}
		switch {
		case !in:
			fail(remedyJoin, "%s is not in the cluster", name)
		case !n.Ready:
			fail(remedyJoin, "%s is not Ready", name)
		case !n.Cordoned && c.addition.NotCordoned == "":
			fail(remedyCordon, "%s is not cordoned: workloads may use it before it is accepted", name)
		}
	}
	for _, name := range c.addition.To.Nodes {
		if n, in := found[name]; !n.Ready || n.Cordoned { // a missing one is not Ready
			b.Fail(o.ID, name, fmt.Sprintf(remedyAccepted, name), "accepted node %s is not in service: in the cluster %v, Ready %v, cordoned %v", name, in, n.Ready, n.Cordoned)
		}
	}
	state := "cordoned"
	if c.addition.NotCordoned != "" {
		state = "not required to be cordoned"
	} else {
		judgeGang(&b, obs)
	}
	return b.Judgement(fmt.Sprintf("%d new nodes Ready and %s, %d accepted nodes in service", len(added), state, len(c.addition.To.Nodes)))
}

// judgeGang reports a scheduler that places no pod on a cordoned node: the jobs of the next steps would wait for
// their whole time.
func judgeGang(b *check.Builder, obs []check.Observation) {
	for _, o := range check.OfKind(obs, kindGang) {
		if f, err := check.Decode[gangFigures](o); err == nil && f.Name == (workload.KAI{}).Name() {
			b.Unobserved(o.ID, "gang scheduler "+f.Name, remedyGang, "KAI places no pod on a cordoned node, also if the pod tolerates the cordon (KAI-Scheduler, issue 1933): the new nodes cannot be measured")
		}
	}
}
