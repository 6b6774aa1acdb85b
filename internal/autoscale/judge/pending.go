package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

const kai = "kai"

// whyNotRunning reports why pods are pending, or what the containers of bound pods wait
// for.
func (l lookup) whyNotRunning(list []snapshot.Pod) []check.Finding {
	pending := only(list, func(p snapshot.Pod) bool { return p.Node == "" })
	out := l.whyPending(pending)
	for _, p := range list {
		if p.Node != "" {
			why := cmp.Or(p.Why, "its container is not ready")
			out = append(out, finding(suspect(p.Ref),
				"see the pod's events: the image, its pull, the device plugin of the node",
				"%s is on %s and not running: %s", suspect(p.Ref), p.Node, why))
		}
	}
	return out
}

// whyPending reports why pods have no node: likeliest first, each reason once.
func (l lookup) whyPending(list []snapshot.Pod) []check.Finding {
	if len(list) == 0 {
		return nil
	}
	var out []check.Finding
	for _, f := range slices.Concat(l.queueFindings(list), l.taintFindings(list), l.poolState(list), l.whyNotReady(list), l.schedulerFindings(list)) {
		if !slices.ContainsFunc(out, func(g check.Finding) bool { return g.Suspect == f.Suspect && g.Remedy == f.Remedy }) {
			out = append(out, f)
		}
	}
	return out
}

// queueFindings reports KAI queues that do not exist. KAI skips pods of missing queues
// without an event.
func (l lookup) queueFindings(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range list {
		if !strings.Contains(p.Scheduler, kai) || p.Queue == "" {
			continue
		}
		i := slices.IndexFunc(l.st.Queues, func(q snapshot.Queue) bool { return q.Name == p.Queue })
		if i >= 0 && !l.st.Queues[i].Absent {
			continue
		}
		_, spoke := l.rejection(p)
		switch {
		case i >= 0:
			out = append(out, finding("Queue "+p.Queue,
				l.queueRemedy(p),
				"queue %s of %s does not exist: KAI skips the pod%s", p.Queue, suspect(p.Ref), because(l.kaiWarning(p))))
		case !spoke && p.Queue != l.setup.Queue:
			out = append(out, finding("Queue "+p.Queue,
				l.queueRemedy(p),
				"%s names queue %s, not %s, and KAI reported no event about it, as for a missing queue%s", suspect(p.Ref), p.Queue, cmp.Or(l.setup.Queue, "the run's queue"), because(l.kaiWarning(p))))
		}
	}
	return out
}

func (l lookup) queueRemedy(p snapshot.Pod) string {
	if l.setup.Queue != "" && p.Queue != l.setup.Queue {
		return fmt.Sprintf("the chain created queue %s: find out what set the pod's label kai.scheduler/queue to %s, or create that queue", l.setup.Queue, p.Queue)
	}
	return "create the queue: kubectl get queues.scheduling.run.ai lists the existing ones"
}

// kaiWarning is KAI's newest warning about the pod or its group.
func (l lookup) kaiWarning(p snapshot.Pod) string {
	for _, e := range slices.Backward(l.st.Events) {
		about := e.About.UID == p.UID || e.About.Kind == "PodGroup" && e.About.Namespace == p.Namespace
		if about && !l.fromAutoscaler(e) && e.Type == "Warning" {
			return e.Reason + ": " + e.Message
		}
	}
	return ""
}

// taintFindings compares the pool's taints with the pods' tolerations.
func (l lookup) taintFindings(list []snapshot.Pod) []check.Finding {
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
			continue // placed on initial nodes
		}
		for _, t := range taints {
			if !tolerates(p.Tolerates, t) {
				return []check.Finding{finding(suspect(p.Ref),
					taintRemedy,
					"taint not tolerated: %s does not tolerate %s of %s (it tolerates: %s)", suspect(p.Ref), t, from, listOrNone(only(p.Tolerates, func(t string) bool { return !strings.HasPrefix(t, "node.kubernetes.io/") })))}
			}
		}
	}
	return nil
}

const taintRemedy = "add the toleration to the workload, or find out which admission policy removed it; site autoscale.taint is the taint to tolerate"

// tolerates reports whether one of the tolerations matches the taint. Both have the form
// key=value:effect; a toleration without a value matches any, "*" everything.
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

// poolState reports problems of the autoscaler and its pool, and the autoscaler's
// rejections of the pods.
func (l lookup) poolState(list []snapshot.Pod) []check.Finding {
	list = only(list, func(p snapshot.Pod) bool { return p.Role != snapshot.RoleLoad && p.Role != snapshot.RoleHolder })
	if len(list) == 0 {
		return nil
	}
	out := l.programs()
	pool, existed := l.pool(l.setup.Pool.Name)
	if existed && !pool.Absent {
		out = append(out, notReady(pool)...)
	}
	for _, p := range list {
		events := l.refusals(p)
		if len(events) == 0 {
			continue
		}
		f := l.refusal(p, pool, events[len(events)-1])
		if !slices.ContainsFunc(out, func(g check.Finding) bool { return g.Remedy == f.Remedy }) {
			out = append(out, f) // once, for the first of the pods
		}
	}
	for _, e := range l.about(pool.UID, "NoCompatibleInstanceTypes") {
		out = append(out, finding("NodePool "+pool.Name,
			instanceRemedy,
			"no instance type fits NodePool %s: %s (requirements: %s)", pool.Name, e.Message, listOrNone(pool.Requirements)))
	}
	return out
}

const instanceRemedy = "add instance types with enough GPUs that the provider offers to the NodePool (site autoscale.instanceTypes)"

// refusal interprets one rejection by the autoscaler.
func (l lookup) refusal(p snapshot.Pod, pool snapshot.Pool, e snapshot.Event) check.Finding {
	text := strings.TrimPrefix(e.Message, "Failed to schedule pod, ")
	name := "NodePool " + l.setup.Pool.Name
	own := l.poolClause(text)
	switch {
	case isLimit(own):
		return finding(name,
			"raise spec.limits of the NodePool, or remove other workloads from it",
			"NodePool limit reached: %s has %[3]d of at most %[2]d GPUs, so %[4]s gets no node (%[5]s)", name, pool.GPULimit, pool.GPUs, suspect(p.Ref), own)
	case strings.Contains(own, "no instance type") || strings.Contains(own, "filtered out all available instance types") || l.poolHasNoInstanceType(text):
		return finding(name, instanceRemedy, "no instance type fits: %s for %s (%s requires %s)", own, suspect(p.Ref), name, listOrNone(pool.Requirements))
	case strings.Contains(text, "max node group size reached"):
		return finding("node group "+l.setup.Pool.Name, "raise the node group's maximum", "the node group has reached its maximum size: %s", text)
	case strings.Contains(own, "did not tolerate "):
		return finding(suspect(p.Ref), taintRemedy, "taint not tolerated: %s: %s", suspect(p.Ref), own)
	default:
		return finding(suspect(p.Ref), "correct the reported cause; see its log", "%s creates no node for %s: %s", l.autoscaler(), suspect(p.Ref), text)
	}
}

// poolClause is the part of Karpenter's message about the run's NodePool: Karpenter joins
// the reasons of all NodePools with semicolons and names some of them.
func (l lookup) poolClause(text string) string {
	clauses := strings.Split(text, "; ")
	for _, c := range clauses {
		if named := poolName.FindStringSubmatch(c); named != nil && named[1] == l.setup.Pool.Name {
			return c
		}
	}
	for _, c := range clauses { // clauses about no other pool
		if !poolName.MatchString(c) && !strings.Contains(c, "karpenter.sh/nodepool") {
			return c
		}
	}
	return text
}

// poolHasNoInstanceType: Karpenter's message omits a pool without a fitting instance type
// and mentions only the other pools, which the pod's selector excludes.
func (l lookup) poolHasNoInstanceType(text string) bool {
	pool, _ := l.pool(l.setup.Pool.Name)
	return len(l.about(pool.UID, "NoCompatibleInstanceTypes")) > 0 && !strings.Contains(text, "NodePool="+pool.Name)
}

// whyNotReady reports why new nodes are not ready.
func (l lookup) whyNotReady(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, c := range l.claimsOf(list) {
		out = append(out, l.claimProblems(c)...)
	}
	if l.karpenter() {
		return out
	}
	for _, n := range l.nodesOf(list) {
		out = append(out, nodeNotReady(n)...)
	}
	if len(list) > 0 && len(l.nodesOf(list)) == 0 {
		if events := l.about(list[0].UID, "TriggeredScaleUp"); len(events) > 0 {
			out = append(out, finding("node group "+l.setup.Pool.Name,
				"see the node group's instances and their boot",
				"a scale-up of the node group was triggered, but no node was added: %s", events[0].Message))
		}
	}
	return out
}

// schedulerFindings reports the scheduler's message for pods without another reason.
func (l lookup) schedulerFindings(list []snapshot.Pod) []check.Finding {
	var out []check.Finding
	for _, p := range list {
		if len(l.refusals(p)) > 0 || len(l.claimsFor(p)) > 0 {
			continue
		}
		e, events := l.rejection(p)
		switch {
		case p.Node != "":
			out = append(out, l.misplaced(p))
		case !events:
			out = append(out, finding(suspect(p.Ref),
				"check that this scheduler runs",
				"no scheduler has evaluated %s (scheduler %s)", suspect(p.Ref), cmp.Or(p.Scheduler, "default-scheduler")))
		case p.Role == snapshot.RoleLoad || p.Role == snapshot.RoleHolder:
			out = append(out, finding(suspect(p.Ref),
				"free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs",
				"%s finds no free GPU on the initial nodes: %s", suspect(p.Ref), short(e.Message)))
		default:
			out = append(out, finding(suspect(p.Ref),
				"check that it runs and watches this cluster; see its log",
				"%s has neither created a node for %s nor reported a reason; the scheduler reports: %s", l.autoscaler(), suspect(p.Ref), short(e.Message)))
		}
	}
	return out
}
