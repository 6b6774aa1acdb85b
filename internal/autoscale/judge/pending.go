package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

const kai = "kai"

// whyNotRunning says why pods do not run: those without a node, why they are
// pending; those with one, what their containers wait for.
func (l look) whyNotRunning(list []snapshot.Pod) []check.Finding {
	pending := only(list, func(p snapshot.Pod) bool { return p.Node == "" })
	out := l.whyPending(pending)
	for _, p := range list {
		if p.Node != "" {
			why := orElse(p.Why, "its container is not ready")
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s is on %s and does not run: %s", suspect(p.Ref), p.Node, why), "see the pod's events: the image, its pull, the device plugin of the node"))
		}
	}
	return out
}

// whyPending says why pods have no node, the likeliest first, each reason once.
func (l look) whyPending(list []snapshot.Pod) []check.Finding {
	if len(list) == 0 {
		return nil
	}
	var out []check.Finding
	for _, f := range slices.Concat(l.queueFindings(list), l.taintFindings(list), l.poolState(list), l.whyNotReady(list), l.words(list)) {
		if !slices.ContainsFunc(out, func(g check.Finding) bool { return g.Suspect == f.Suspect && g.Remedy == f.Remedy }) {
			out = append(out, f)
		}
	}
	return out
}

// queueFindings name queues of KAI that do not exist. KAI passes over a pod
// whose queue is not there without a word.
func (l look) queueFindings(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range list {
		if !strings.Contains(p.Scheduler, kai) || p.Queue == "" {
			continue
		}
		i := slices.IndexFunc(l.st.Queues, func(q snapshot.Queue) bool { return q.Name == p.Queue })
		if i >= 0 && !l.st.Queues[i].Absent {
			continue
		}
		_, spoke := l.turnedDown(p)
		switch {
		case i >= 0:
			out = append(out, finding("Queue "+p.Queue, fmt.Sprintf("queue %s of %s does not exist: KAI passes over the pod%s", p.Queue, suspect(p.Ref), because(l.kaiSays(p))), l.queueRemedy(p)))
		case !spoke && p.Queue != l.setup.Queue:
			out = append(out, finding("Queue "+p.Queue, fmt.Sprintf("%s names queue %s, not %s, and KAI has not said a word about it: as it does when a queue does not exist%s", suspect(p.Ref), p.Queue, orElse(l.setup.Queue, "that of the run"), because(l.kaiSays(p))), l.queueRemedy(p)))
		}
	}
	return out
}

func (l look) queueRemedy(p snapshot.Pod) string {
	if l.setup.Queue != "" && p.Queue != l.setup.Queue {
		return fmt.Sprintf("the chain made queue %s: find out what put %s into the pod's label kai.scheduler/queue, or create that queue", l.setup.Queue, p.Queue)
	}
	return "create the queue: kubectl get queues.scheduling.run.ai lists what there is"
}

// kaiSays is what KAI's parts say about the pod or its group.
func (l look) kaiSays(p snapshot.Pod) string {
	for _, e := range slices.Backward(l.st.Events) {
		about := e.About.UID == p.UID || e.About.Kind == "PodGroup" && e.About.Namespace == p.Namespace
		if about && !l.fromAutoscaler(e) && e.Type == "Warning" {
			return e.Reason + ": " + e.Message
		}
	}
	return ""
}

// taintFindings hold the pool's taints against what the pods tolerate.
func (l look) taintFindings(list []snapshot.Pod) []check.Finding {
	var taints []string
	from := l.setup.Pool.Name
	if pool, ok := l.pool(from); ok {
		taints, from = pool.Taints, "NodePool "+from
	} else if !l.karpenter() {
		from = "node group " + from
		for _, n := range l.st.Nodes {
			if n.Ours {
				taints = n.Taints
			}
		}
	}
	for _, p := range list {
		if p.Role == snapshot.RoleLoad || p.Role == snapshot.RoleHolder {
			continue // they go to nodes that were there
		}
		for _, t := range taints {
			if !tolerates(p.Tolerates, t) {
				return []check.Finding{finding(suspect(p.Ref), fmt.Sprintf("taint not tolerated: %s does not tolerate %s of %s (it tolerates: %s)", suspect(p.Ref), t, from, some(only(p.Tolerates, func(t string) bool { return !strings.HasPrefix(t, "node.kubernetes.io/") }))),
					taintRemedy)}
			}
		}
	}
	return nil
}

const taintRemedy = "add the toleration to the workload, or find out which admission policy took it away; site autoscale.taint is the taint to tolerate"

// tolerates says whether one of the tolerations is for the taint, both written
// key=value:effect; a toleration without a value is for any, "*" for everything.
func tolerates(tolerations []string, taint string) bool {
	key, value, effect := taintParts(taint)
	if effect == "PreferNoSchedule" {
		return true
	}
	return slices.ContainsFunc(tolerations, func(t string) bool {
		k, v, e := taintParts(t)
		return t == "*" || k == key && (v == "" || v == value) && (e == "" || e == effect)
	})
}

func taintParts(s string) (key, value, effect string) {
	s, effect, _ = strings.Cut(s, ":")
	key, value, _ = strings.Cut(s, "=")
	return key, value, effect
}

// poolState says what is wrong with the autoscaler and its pool, and what the
// autoscaler says against the pods for it.
func (l look) poolState(list []snapshot.Pod) []check.Finding {
	list = only(list, func(p snapshot.Pod) bool { return p.Role != snapshot.RoleLoad && p.Role != snapshot.RoleHolder })
	if len(list) == 0 {
		return nil
	}
	out := l.programs()
	pool, there := l.pool(l.setup.Pool.Name)
	if there && !pool.Absent {
		out = append(out, notReady(pool)...)
	}
	for _, p := range list {
		said := l.refusals(p)
		if len(said) == 0 {
			continue
		}
		f := l.refusal(p, pool, said[len(said)-1])
		if !slices.ContainsFunc(out, func(g check.Finding) bool { return g.Remedy == f.Remedy }) {
			out = append(out, f) // once, for the first of the pods
		}
	}
	for _, e := range l.about(pool.UID, "NoCompatibleInstanceTypes") {
		out = append(out, finding("NodePool "+pool.Name, fmt.Sprintf("no instance type fits NodePool %s: %s (it requires %s)", pool.Name, e.Message, some(pool.Requirements)), instanceRemedy))
	}
	return out
}

const instanceRemedy = "widen the instance types of the NodePool (site autoscale.instanceTypes) to some that the provider offers and that have the GPUs"

// refusal reads the autoscaler's own words.
func (l look) refusal(p snapshot.Pod, pool snapshot.Pool, e snapshot.Event) check.Finding {
	text := strings.TrimPrefix(e.Message, "Failed to schedule pod, ")
	name := "NodePool " + l.setup.Pool.Name
	own := l.clause(text)
	switch {
	case isLimit(own):
		return finding(name, fmt.Sprintf("NodePool limit reached: %s may have %d GPUs and has %d, so %s gets no node (%s)", name, pool.GPULimit, pool.GPUs, suspect(p.Ref), own), "raise spec.limits of the NodePool, or free what others hold of it")
	case strings.Contains(own, "no instance type") || strings.Contains(own, "filtered out all available instance types") || l.noType(text):
		return finding(name, fmt.Sprintf("no instance type fits: %s for %s (%s requires %s)", own, suspect(p.Ref), name, some(pool.Requirements)), instanceRemedy)
	case strings.Contains(text, "max node group size reached"):
		return finding("node group "+l.setup.Pool.Name, "the node group has reached its maximum size: "+text, "raise the node group's maximum")
	case strings.Contains(own, "did not tolerate taint"):
		return finding(suspect(p.Ref), fmt.Sprintf("taint not tolerated: %s: %s", suspect(p.Ref), own), taintRemedy)
	default:
		return finding(suspect(p.Ref), fmt.Sprintf("%s makes no node for %s: %s", l.autoscaler(), suspect(p.Ref), text), "correct what it names; see its log")
	}
}

// clause is what Karpenter says for our NodePool: it joins what every NodePool
// has against a pod with semicolons, and names some of them.
func (l look) clause(text string) string {
	clauses := strings.Split(text, "; ")
	mark := "NodePool=" + l.setup.Pool.Name
	for _, c := range clauses {
		if i := strings.Index(c, mark); i >= 0 && !strings.HasPrefix(c[i+len(mark):], "-") {
			return c
		}
	}
	for _, c := range clauses { // those that are not another pool's
		if !strings.Contains(c, "NodePool=") && !strings.Contains(c, "karpenter.sh/nodepool") {
			return c
		}
	}
	return text
}

// noType: when a pool is left out because nothing fits it, Karpenter speaks of
// the other pools only, which the pod's selector excludes.
func (l look) noType(text string) bool {
	pool, ok := l.pool(l.setup.Pool.Name)
	return ok && len(l.about(pool.UID, "NoCompatibleInstanceTypes")) > 0 && !strings.Contains(text, "NodePool="+pool.Name)
}

// whyNotReady says why nodes that are on their way are not there.
func (l look) whyNotReady(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, c := range l.claimsOf(list) {
		out = append(out, l.whyClaim(c)...)
	}
	if l.karpenter() {
		return out
	}
	for _, n := range l.nodesOf(list) {
		out = append(out, nodeNotReady(n)...)
	}
	if len(list) > 0 && len(l.nodesOf(list)) == 0 {
		if said := l.about(list[0].UID, "TriggeredScaleUp"); len(said) > 0 {
			out = append(out, finding("node group "+l.setup.Pool.Name, "the node group was told to grow and no node has come: "+said[0].Message, "see the node group's instances and their boot"))
		}
	}
	return out
}

// words are the scheduler's, when nobody else has any.
func (l look) words(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range list {
		if len(l.refusals(p)) > 0 || len(l.claimsFor(p)) > 0 {
			continue
		}
		e, said := l.turnedDown(p)
		switch {
		case !said:
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("no scheduler has looked at %s (scheduler %s)", suspect(p.Ref), orElse(p.Scheduler, "default-scheduler")), "see that this scheduler runs"))
		case p.Role == snapshot.RoleLoad || p.Role == snapshot.RoleHolder:
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s finds no free GPU on the nodes that were there: %s", suspect(p.Ref), short(e.Message)), "free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs"))
		default:
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s has neither made a node for %s nor said why not; the scheduler says: %s", l.autoscaler(), suspect(p.Ref), short(e.Message)), "see that it runs and watches this cluster, and its log"))
		}
	}
	return out
}
