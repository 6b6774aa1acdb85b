package ray

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

const (
	remedyAPI      = "make the API server reachable with this kubeconfig, and give its user the permissions that firstlight's RBAC lists; RayClusters need KubeRay's definitions"
	remedyOperator = "start the KubeRay operator, and read its log; it must watch the namespace of the RayCluster"
	remedyResumed  = "exempt RayClusters without a queue in this namespace from the controller that resumes them: Kueue with manageJobsWithoutQueueName"
	remedyCluster  = "kubectl describe raycluster, and the log of the KubeRay operator"
	remedyHead     = "kubectl logs --previous of the head's pod; the logs of Ray in /tmp/ray/session_latest/logs"
	remedyGroup    = "correct replicas (and minReplicas, maxReplicas) of the worker group"
	remedyPod      = "kubectl describe the pod, and its log: a worker is ready when its raylet has registered with the head"
	remedyAPIHead  = "make port 8265 of the head's pod reachable: the dashboard of Ray must run, without TLS and without a token"
	remedyRaylet   = "read raylet.out and gcs_server.out in /tmp/ray/session_latest/logs of the pod, and restart it"
	remedyRecent   = "kubectl logs --previous of the pod; run the gate again when its Ray container has run for ten minutes"
	remedyGPUs     = "compare num-gpus in rayStartParams and nvidia.com/gpu of the pod with nvidia-smi -L in it"
	// remedyUnrequested: Kubernetes may give the same GPUs to other pods.
	remedyUnrequested = "remove num-gpus from rayStartParams, or have the container request as many of nvidia.com/gpu"
	remedyRemains     = "ray list placement-groups; restart the head if the group remains"
	remedyBusy        = "run the gate when no job uses Ray's GPUs: ray status, ray list actors, ray list placement-groups"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.nodes) == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes")
	}
	var b check.Builder
	version := g.judgeState(&b, obs)
	if b.Clean() { // else no group was created
		g.judgeProofs(&b, obs)
		g.judgeRestarts(&b, obs)
		if b.Clean() {
			g.judgeRaylets(&b, obs)
		}
	}
	b.MergeSuspects()
	want := float64(len(g.nodes) * g.gpus)
	var unread check.Builder
	nodes, _, _ := check.Require[[]probe.Node](&unread, obs, kindNodes, "", "", "")
	b.Figure(check.Figure{Name: "GPUs of Ray", Value: offered(nodes), Unit: "GPUs", Limit: want, Relation: "==", Source: "site inventory.nodes and profile " + g.hardware.Name + " node.gpus"})
	return b.Judgement(fmt.Sprintf("Ray %s: RayCluster %s is ready with %d nodes and %d GPUs each; "+
		"a placement group over all nodes was placed and its tasks found all GPUs, a larger one was not", version, g.ref(), len(g.nodes), g.gpus))
}

// judgeState judges everything but the placement groups. It returns Ray's version.
func (g *Gate) judgeState(b *check.Builder, obs []check.Observation) (version string) {
	g.judgeOperator(b, obs)
	cluster, o, seen := check.Require[clusterFigures](b, obs, kindCluster, "", "RayCluster "+g.ref(), remedyAPI)
	if seen {
		g.judgeCluster(b, o.ID, cluster)
	}
	pods, podsObs, ok := check.Require[[]podFigures](b, obs, kindPods, "", "the pods of RayCluster "+g.ref(), remedyAPI)
	if !ok || !seen {
		return ""
	}
	headReady := g.judgeHead(b, podsObs.ID, live(pods))
	g.judgeRecent(b, podsObs, fixed(pods, cluster))
	g.judgeWorkers(b, podsObs.ID, fixed(pods, cluster), cluster)
	if !headReady { // the head was not asked
		return ""
	}
	v, o, ok := check.Require[versionFigures](b, obs, kindVersion, "", "the Ray head", remedyAPIHead)
	if !ok {
		return ""
	}
	if v.Version == "" {
		b.Unobserved(o.ID, "Ray head", remedyAPIHead, "the head states no version")
	}
	if nodes, o, ok := check.Require[[]probe.Node](b, obs, kindNodes, "", "the nodes of Ray", remedyAPIHead); ok {
		g.judgeNodes(b, o.ID, nodes, pods)
	}
	g.judgeUsage(b, obs)
	return v.Version
}

// judgeOperator requires that the operator has reconciled the probe.
func (g *Gate) judgeOperator(b *check.Builder, obs []check.Observation) {
	f, o, ok := check.Require[operatorFigures](b, obs, kindOperator, "", "the KubeRay operator", remedyAPI)
	switch suspect := "suspended RayCluster in namespace " + g.site.Ray.Namespace; {
	case !ok:
	case f.Resumed:
		b.Fail(o.ID, suspect, remedyResumed, "spec.suspend was set to false by another controller, and %d pods exist", f.Pods)
	case f.Pods > 0:
		b.Fail(o.ID, suspect, remedyOperator, "has %d pods, want none", f.Pods)
	case f.State != suspended:
		b.Fail(o.ID, "kuberay-operator", remedyOperator, "did not reconcile a suspended RayCluster in namespace %s within %g s: its state is %q", g.site.Ray.Namespace, f.WithinSeconds, f.State)
	}
}

// judgeCluster judges the spec and the status of the RayCluster.
func (g *Gate) judgeCluster(b *check.Builder, id string, c clusterFigures) {
	suspect := "RayCluster " + g.ref()
	switch {
	case c.Suspended:
		b.Fail(id, suspect, "set spec.suspend to false", "is suspended: it has no pods")
		return
	case c.State != "ready":
		b.Fail(id, suspect, remedyCluster, "is in state %q, want ready: %s", c.State, c.Reason)
	}
	for _, one := range c.Conditions {
		if one.Type == "ReplicaFailure" && one.Status == "True" {
			b.Fail(id, suspect, remedyCluster, "KubeRay cannot create its pods: %s: %s", one.Reason, one.Message)
		}
	}
	if c.Scales {
		b.Unobserved(id, suspect, "set minReplicas and maxReplicas of its worker groups with GPUs to replicas for this run, or disable enableInTreeAutoscaling",
			"its autoscaler may add workers for the placement group that must not fit, or remove idle ones during the gate")
	}
}

// judgeHead requires one head that is ready.
func (g *Gate) judgeHead(b *check.Builder, id string, pods []podFigures) bool {
	suspect := "head of RayCluster " + g.ref()
	head := headOf(pods)
	switch {
	case head == nil:
		n := 0
		for _, p := range pods {
			if p.Head {
				n++
			}
		}
		b.Fail(id, suspect, remedyCluster, "%d pods of the head, want 1", n)
		return false
	case !head.Ready:
		b.Fail(id, suspect, remedyHead, "pod %s is not ready (%s), after %d restarts", head.Name, head.Reason, head.Restarts)
		return false
	}
	return true
}

// judgeWorkers requires one pod on each node of the inventory, which has all its GPUs and is ready.
func (g *Gate) judgeWorkers(b *check.Builder, id string, pods []podFigures, c clusterFigures) {
	on := map[string][]podFigures{}
	for _, p := range pods {
		switch {
		case p.GPUs == 0:
			if !p.Ready && !p.Head {
				b.Fail(id, cmp.Or(p.Node, "pod "+p.Name), remedyPod, "pod %s is not ready: %s", p.Name, p.Reason)
			}
		case p.Node == "":
			b.Fail(id, "pod "+p.Name, remedyPod, "is not placed: %s", p.Reason)
		case !slices.Contains(g.nodes, p.Node):
			b.Fail(id, p.Node, "keep Ray's workers off it, or add it to inventory.nodes", "pod %s has %d GPUs of %s, which is not in the inventory or was left out", p.Name, p.GPUs, p.Node)
		default:
			on[p.Node] = append(on[p.Node], p)
		}
	}
	var missing []string
	for _, node := range g.nodes {
		switch have := on[node]; {
		case len(have) == 0:
			missing = append(missing, node)
		case len(have) > 1:
			b.Fail(id, node, remedyGroup, "%d pods of the RayCluster are on %s, want one with all its GPUs", len(have), node)
		case have[0].GPUs != g.gpus:
			b.Fail(id, node, remedyGroup, "pod %s has %d GPUs, want %d", have[0].Name, have[0].GPUs, g.gpus)
		case !have[0].Ready:
			b.Fail(id, node, remedyPod, "pod %s on %s is not ready: %s", have[0].Name, node, have[0].Reason)
		}
	}
	g.judgeMissing(b, id, missing, pods, c)
}

// judgeMissing names the worker group if it is too small, else each node without a worker.
func (g *Gate) judgeMissing(b *check.Builder, id string, missing []string, pods []podFigures, c clusterFigures) {
	if len(missing) == 0 {
		return
	}
	wanted, names := 0, []string{}
	for _, one := range c.Groups {
		if !one.GPUs {
			continue
		}
		if !one.Suspended {
			wanted += one.Pods
		}
		names = append(names, one.Name)
	}
	for _, p := range pods {
		if p.Head && p.GPUs > 0 {
			wanted++
		}
	}
	if wanted < len(g.nodes) {
		what := "worker group " + strings.Join(names, ", ")
		if len(names) == 0 {
			what = "worker groups with GPUs of RayCluster " + g.ref()
		}
		b.Fail(id, what, remedyGroup, "has %d replicas, the inventory has %d nodes: no worker is on %s", wanted, len(g.nodes), strings.Join(missing, ", "))
		return
	}
	for _, node := range missing {
		b.Fail(id, node, remedyPod, "no pod of the RayCluster with GPUs is on %s", node)
	}
}
