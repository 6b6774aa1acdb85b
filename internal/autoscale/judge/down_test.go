package judge

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// stays is node-c that is not removed.
func stays(st *snapshot.State) *snapshot.Node {
	n := nodeNamed(st, "node-c")
	n.Life = life(24.8)
	claimNamed(st, "node-c").Life = life(24.5)
	return n
}

// said adds an event about node-c.
func events(st *snapshot.State, s float64, reason, message string) {
	st.Events = append(st.Events, snapshot.Event{About: ref("Node", "node-c"), Reason: reason, From: "karpenter", Message: message, First: at(s)})
}

// unreported drops Karpenter's nomination of worker-c.
func unreported(st *snapshot.State) {
	c := podNamed(st, "worker-c")
	st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.Reason == "Nominated" && e.About.UID == c.UID })
}

func downNegatives() []negative {
	return slices.Concat(fallNegatives(), stayNegatives(), []negative{
		{name: "nothing came", hop: snapshot.HopNodesGone, suspect: "nodes", says: "no nodes were added under load", change: func(_ *snapshot.Setup, st *snapshot.State) { st.Nodes = st.Nodes[:1] }},

		{name: "a node of a claim made again after a launch without capacity", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "node-c remains", change: func(s *snapshot.Setup, st *snapshot.State) {
			relaunched(s, st)
			stays(st)
		}},
		{name: "a claim made again after a launch without capacity", hop: snapshot.HopClaimsGone, suspect: "NodeClaim claim-node-c", says: "deletion was not requested", change: func(s *snapshot.Setup, st *snapshot.State) {
			relaunched(s, st)
			stays(st)
		}},
		// The node of a claim without an event was taken for one of other workloads once a foreign pod was
		// the only one on it: the hop passed with the node in place.
		{name: "a foreign pod on the node of a claim without an event", hop: snapshot.HopNodesGone, suspect: "pod .*theirs", says: "node-c remains: .*which is not of this run, is on it", change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			stays(st).Holders = []snapshot.Holder{{Ref: stranger("theirs").Ref}}
		}},

		// The HPA made its second step after hop bound, and Karpenter dropped the nomination of its pod at
		// the limit of its rate: the hops passed with the pod's node in place.
		{name: "a node of a pod without a nomination", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "node-c remains", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unreported(st)
			stays(st)
		}},
		{name: "a claim of a pod without a nomination", hop: snapshot.HopClaimsGone, suspect: "NodeClaim claim-node-c", says: "deletion was not requested", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unreported(st)
			stays(st)
		}},
		{name: "a pod without a nomination on an earlier node", hop: snapshot.HopNodesGone, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			unreported(st)
			podNamed(st, "worker-c").Node = "node-a"
		}},
		{name: "a node that the group got for other workloads", hop: snapshot.HopNodesGone, verdict: check.Passed, change: func(s *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("theirs"), "theirs", 24.6)
			nodeNamed(st, "theirs").Holders = []snapshot.Holder{{Ref: stranger("theirs").Ref}}
			grouped(s, st)
		}},
		{name: "a node that the group got for no pod", hop: snapshot.HopNodesGone, suspect: "node theirs", says: "theirs remains", change: func(s *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("theirs"), "theirs", 24.6)
			grouped(s, st)
		}},
		{name: "a foreign pod on the group's node of a new pod", hop: snapshot.HopNodesGone, suspect: "pod .*theirs", says: "which is not of this run, is on it", change: func(s *snapshot.Setup, st *snapshot.State) {
			stays(st).Holders = []snapshot.Holder{{Ref: stranger("theirs").Ref}}
			grouped(s, st)
		}},

		{name: "instance not confirmed gone", hop: snapshot.HopClaimsGone, suspect: "NodeClaim claim-node-c", says: "has been terminating for 3.0 s: the termination of its instance .kwok://node-c.", change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-c").Deleted, claimNamed(st, "node-c").Deleting = time.Time{}, at(54)
		}},
		{name: "deletion was not requested", hop: snapshot.HopClaimsGone, suspect: "NodeClaim claim-node-c", says: "deletion was not requested", change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-c").Life = life(24.5)
		}},
		{name: "nothing came", hop: snapshot.HopClaimsGone, suspect: "claims", says: "no claims were created under load", change: func(_ *snapshot.Setup, st *snapshot.State) { st.Claims = nil }},

		{name: "a node of the inventory", hop: snapshot.HopBystanders, suspect: "node gpu-01", says: "existed before the run and is gone", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Missing = []snapshot.Ref{ref("Node", "gpu-01")}
		}},
		{name: "a node without a pool", hop: snapshot.HopBystanders, suspect: "node system-01", says: "is gone", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Missing = []snapshot.Ref{ref("Node", "system-01")}
		}},
		{name: "a node of another pool", hop: snapshot.HopBystanders, verdict: check.Passed, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Before = append(s.Before, ref("Node", "theirs"))
			s.BeforePools = map[string]string{"theirs": "research"}
			st.Missing = []snapshot.Ref{ref("Node", "theirs")}
		}},
		{name: "the first replica's node", hop: snapshot.HopBystanders, suspect: "node node-a", says: "of the first replica was removed", change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-a").Life = ended(7, 50)
		}},
		{name: "no initial node", hop: snapshot.HopBystanders, suspect: "nodes", says: "no node existed before", change: func(s *snapshot.Setup, _ *snapshot.State) { s.Before = nil }},

		{name: "left over", hop: snapshot.HopClean, suspect: "NodePool firstlight-run", says: "still exists", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Left = []snapshot.Ref{ref("NodePool", own)}
		}},
		{name: "kept for a pod of others", hop: snapshot.HopClean, verdict: check.Unobserved, suspect: "NodePool firstlight-run", says: "is kept for pods that are not of this run: pod .*theirs", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Left = occupiedBy(st, snapshot.Holder{Ref: stranger("theirs").Ref})
		}},
		{name: "instances that end slowly", hop: snapshot.HopClean, verdict: check.Unobserved, suspect: "NodeClaim claim-node-a", says: "is being removed for", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Left = occupiedBy(st, snapshot.Holder{Ref: stranger("exporter").Ref, Daemon: true})[1:]
			claimNamed(st, "node-a").Deleting, nodeNamed(st, "node-a").Deleting = at(60), at(60)
		}},
		{name: "a claim whose deletion was not requested", hop: snapshot.HopClean, suspect: "NodeClaim claim-node-a", says: "still exists", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Left = occupiedBy(st, snapshot.Holder{Ref: stranger("exporter").Ref, Daemon: true})[1:]
		}},
		{name: "left with a pod of a DaemonSet", hop: snapshot.HopClean, suspect: "NodePool firstlight-run", says: "still exists", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Left = occupiedBy(st, snapshot.Holder{Ref: stranger("exporter").Ref, Daemon: true})
		}},
		{name: "not begun", hop: snapshot.HopClean, suspect: "clean-up", says: "did not begin", change: func(_ *snapshot.Setup, st *snapshot.State) { delete(st.Marks, snapshot.MarkClean) }},
		{name: "kept", hop: snapshot.HopClean, verdict: check.NotApplicable, change: func(s *snapshot.Setup, _ *snapshot.State) { s.Keep = true }},
	})
}

// occupiedBy leaves node-a with its claim and its NodePool, and a pod on it.
func occupiedBy(st *snapshot.State, pod snapshot.Holder) []snapshot.Ref {
	n := nodeNamed(st, "node-a")
	n.Life, n.Holders = life(7), []snapshot.Holder{pod}
	claimNamed(st, "node-a").Life = life(6.5)
	return []snapshot.Ref{ref("NodePool", own), claimNamed(st, "node-a").Ref, n.Ref}
}

func fallNegatives() []negative {
	return []negative{
		{name: "load still there", hop: snapshot.HopMetricFalls, suspect: "pod .*load-2", says: "still runs on gpu-02", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "load-2").Life = life(21.1)
		}},
		{name: "value stays", hop: snapshot.HopMetricFalls, suspect: "gpu-02/gpu7", says: "diluted|pod research/train", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = st.API[:len(st.API)-1]
			st.Made = append(st.Made, snapshot.Sample{Node: "gpu-02", GPU: "7", UUID: "GPU-27", Namespace: "research", Pod: "train", Value: 700, At: at(57)})
		}},
		{name: "value rises again", hop: snapshot.HopMetricFalls, suspect: "external metric", says: "is 500 W after the load ended", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = append(st.API, snapshot.Reading{At: at(36), Value: 500})
		}},
		{name: "value gone", hop: snapshot.HopMetricFalls, suspect: "adapter rule", says: "no value", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = append(st.API, snapshot.Reading{At: at(36), Err: "no metrics returned"})
		}},
		{name: "not stopped", hop: snapshot.HopMetricFalls, suspect: "load", says: "not stopped", change: func(_ *snapshot.Setup, st *snapshot.State) { delete(st.Marks, snapshot.MarkStop) }},

		{name: "stabilization", hop: snapshot.HopHPADown, suspect: "hpa-stabilization", says: "waits for its stabilization window", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = st.Desired[:3]
			st.HPA.Conditions[0] = snapshot.Condition{Type: "AbleToScale", Status: "True", Reason: "ScaleDownStabilized", Message: "recent recommendations were higher"}
		}},
		{name: "metric gone", hop: snapshot.HopHPADown, suspect: "HorizontalPodAutoscaler", says: "cannot read the metric and keeps", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = st.Desired[:3]
			st.HPA.Conditions[1] = not("ScalingActive", "False", "FailedGetExternalMetric", "x")
		}},
		{name: "still high", hop: snapshot.HopHPADown, suspect: "HorizontalPodAutoscaler", says: "still reports the value 900 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			v := 900.0
			st.Desired[3].Desired, st.Desired[3].Value = 3, &v
		}},
		{name: "down and up again", hop: snapshot.HopHPADown, suspect: "HPA|Horizontal", says: "more than the minimum", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = append(st.Desired, snapshot.Desired{At: at(40), Desired: 2})
		}},

		{name: "another replica was deleted", hop: snapshot.HopPodsGone, suspect: "pod .*worker-a", says: "was deleted instead of a new one", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-a").Life = ended(6.1, 39)
			podNamed(st, "worker-c").Life = life(24)
		}},
		{name: "a replica that was deleted before the load", hop: snapshot.HopPodsGone, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := pod(snapshot.RoleWorker, "worker-evicted", "node-a", 6.2, 9)
			p.Deleting, p.Deleted = at(20), at(25)
			st.Pods = append(st.Pods, p)
		}},
		{name: "does not end", hop: snapshot.HopPodsGone, suspect: "pod .*worker-c", says: "deleted 18.5 s ago and still exists on node-c", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Deleted = time.Time{}
		}},
		{name: "not deleted", hop: snapshot.HopPodsGone, suspect: "pod .*worker-c", says: "has not been deleted", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Life = life(24)
		}},
		{name: "nothing came", hop: snapshot.HopPodsGone, suspect: "pods", says: "no pods were created under load", change: func(_ *snapshot.Setup, st *snapshot.State) { st.Pods = st.Pods[:3] }},
	}
}

func stayNegatives() []negative {
	return []negative{
		{name: "consolidation disabled", hop: snapshot.HopNodesGone, suspect: "NodePool firstlight-run", says: "consolidateAfter of NodePool firstlight-run is Never", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Pools[0].ConsolidateAfter = "Never"
		}},
		{name: "consolidation disabled, in Karpenter's words", hop: snapshot.HopNodesGone, suspect: "NodePool firstlight-run", says: `has consolidation disabled`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 26, "Unconsolidatable", `NodePool "firstlight-run" has consolidation disabled`)
		}},
		{name: "do not disrupt", hop: snapshot.HopNodesGone, suspect: "pod research/keeper", says: "annotated karpenter.sh/do-not-disrupt", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st).Holders = []snapshot.Holder{{Ref: snapshot.Ref{Kind: "Pod", Namespace: "research", Name: "keeper", UID: "k"}, DoNotDisrupt: true}}
		}},
		{name: "a foreign pod", hop: snapshot.HopNodesGone, suspect: "pod research/train", says: "which is not of this run", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st).Holders = []snapshot.Holder{{Ref: snapshot.Ref{Kind: "Pod", Namespace: "kube-system", Name: "proxy", UID: "p"}, Daemon: true}, {Ref: snapshot.Ref{Kind: "Pod", Namespace: "research", Name: "train", UID: "k"}}}
		}},
		{name: "our pod", hop: snapshot.HopNodesGone, suspect: "pod .*worker-c", says: "still on it", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st).Holders = []snapshot.Holder{{Ref: ref("Pod", "worker-c"), Ours: true}}
		}},
		{name: "budget 0", hop: snapshot.HopNodesGone, suspect: "NodePool", says: "disruption budget of NodePool firstlight-run is 0", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Pools[0].Budgets = []string{"10%", "0"}
		}},
		{name: "budget, in Karpenter's words", hop: snapshot.HopNodesGone, suspect: "NodePool", says: "blocked by a disruption budget", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Events = append(st.Events, snapshot.Event{About: ref("NodePool", own), Reason: "DisruptionBlocked", Message: "No allowed disruptions for disruption reason Empty due to blocking budget", First: at(45)})
		}},
		{name: "PodDisruptionBudget", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "Pdb prevents pod evictions .PodDisruptionBudget=.research/train", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 26, "DisruptionBlocked", "Pdb prevents pod evictions (PodDisruptionBudget=[research/train])")
		}},
		{name: "events before the end of the load do not count", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "remains for no known reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 26, "DisruptionBlocked", "Can't be removed yet")
			events(st, 45, "DisruptionBlocked", "Node is nominated for a pending pod")
		}},
		{name: "a node that was not initialized for a while is not kept for that", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "remains for no known reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 45, "DisruptionBlocked", "Node isn't initialized")
		}},
		{name: "current events count", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "can't replace with a cheaper node", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 45, "Unconsolidatable", "can't replace with a cheaper node")
		}},
		{name: "not consolidatable yet", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "not Consolidatable yet", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			c := claimNamed(st, "node-c")
			c.Conditions = c.Conditions[:3]
		}},
		{name: "draining", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "has been draining for 7.0 s", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st).Deleting = at(50)
		}},
		{name: "Karpenter gone", hop: snapshot.HopNodesGone, suspect: "karpenter", says: "0 of 1", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			st.Programs[1].Ready = 0
		}},
		{name: "another node of the same name", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "remains for no known reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			n := *stays(st)
			gone := n
			gone.UID, gone.ProviderID, gone.Life = "uid-earlier", "kwok://earlier", ended(24.8, 50)
			st.Nodes = append(st.Nodes, gone)
		}},
		{name: "noise that stays", hop: snapshot.HopNodesGone, verdict: check.Passed, change: noise},
		{name: "noise that stays", hop: snapshot.HopClaimsGone, verdict: check.Passed, change: noise},
		{name: "noise that stays", hop: snapshot.HopBystanders, verdict: check.Passed, change: noise},
	}
}

// readLate has the Ready condition of node-g2 observed at 68 s. By the API it is of another time, and the
// pods of the gang are bound at 64 s, gang-0 at the given time.
func readLate(bound, ready float64) func(*snapshot.Setup, *snapshot.State) {
	return func(_ *snapshot.Setup, st *snapshot.State) {
		n := nodeNamed(st, "node-g2")
		n.Conditions = []snapshot.Condition{is("Ready", 68)}
		n.Conditions[0].At = at(ready)
		for name, s := range map[string]float64{"gang-0": bound, "gang-1": 64, "gang-2": 64} {
			c := is("PodScheduled", 64)
			c.At = at(s)
			podNamed(st, name).Conditions = []snapshot.Condition{c}
		}
	}
}

func gangNegatives() []negative {
	return []negative{
		{name: "a pod is missing", hop: snapshot.HopGangBound, suspect: "gang", says: "2 of 3 pods", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "gang-1" })
		}},
		{name: "limit", hop: snapshot.HopGangBound, suspect: "NodePool", says: "limit reached", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "gang-1", "node-g1", "all available instance types exceed limits for nodepool (NodePool=firstlight-run)")
		}},
		{name: "one by one", hop: snapshot.HopGangBound, suspect: "scheduler", says: "bound 4.0 s before node node-g2", change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-g2").Conditions = []snapshot.Condition{is("Ready", 68)}
			podNamed(st, "gang-2").BoundAt = at(69)
		}},
		// The API server was restarted: the watch of nodes came back later than the watch of pods.
		{name: "Ready was observed late", hop: snapshot.HopGangBound, verdict: check.Unobserved, suspect: "scheduler", says: "observed bound 4.0 s before node node-g2, .* but not by the times of the API", change: readLate(64, 64)},
		{name: "Ready was observed late, one pod bound before it", hop: snapshot.HopGangBound, suspect: "scheduler", says: "bound 4.0 s before node node-g2", change: readLate(63, 64)},
		{name: "Ready was observed late, a pod without a time of the API", hop: snapshot.HopGangBound, suspect: "scheduler", says: "bound 4.0 s before node node-g2", change: func(s *snapshot.Setup, st *snapshot.State) {
			readLate(64, 64)(s, st)
			podNamed(st, "gang-1").Conditions = nil
		}},
		{name: "Ready was observed late, without a time of the API", hop: snapshot.HopGangBound, suspect: "scheduler", says: "bound 4.0 s before node node-g2", change: func(s *snapshot.Setup, st *snapshot.State) {
			readLate(64, 64)(s, st)
			nodeNamed(st, "node-g2").Conditions[0].At = time.Time{}
		}},
		{name: "no overflow", hop: snapshot.HopGangBound, suspect: "gang", says: "fit on the free nodes", change: func(_ *snapshot.Setup, st *snapshot.State) {
			for _, n := range []string{"node-g0", "node-g1", "node-g2"} {
				nodeNamed(st, n).Life = life(50)
			}
		}},
		{name: "no gangs here", hop: snapshot.HopGangBound, verdict: check.NotApplicable, change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.Gang, s.GangWhy = 0, "no scheduler here knows gangs"
		}},

		{name: "one is bound", hop: snapshot.HopGangNone, suspect: "pod .*short-1", says: "that does not fit was bound", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "short-1").Node = "node-g0"
		}},
		{name: "too soon", hop: snapshot.HopGangNone, verdict: check.Unobserved, suspect: "gang", says: "no pod of the gang was bound for 4.1 s, want 10.0 s", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.At = at(85)
		}},
		{name: "no reason", hop: snapshot.HopGangNone, verdict: check.Unobserved, suspect: "Karpenter", says: "Karpenter reports no reason", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Events = nil
		}},
		{name: "a pod is missing", hop: snapshot.HopGangNone, suspect: "gang", says: "2 of 3", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = st.Pods[:len(st.Pods)-1]
		}},
	}
}
