package judge

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

func upNegatives() []negative {
	return slices.Concat(loadNegatives(), scaleNegatives(), claimNegatives(), nodeNegatives(), groupNegatives())
}

func loadNegatives() []negative {
	return []negative{
		{name: "no GPU free", hop: snapshot.HopLoad, suspect: "pod .*load-1", says: "no free GPU.*Insufficient", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "load-1")
			p.Node, p.ReadyAt = "", time.Time{}
			p.Conditions = []snapshot.Condition{not("PodScheduled", "False", "Unschedulable", "Insufficient nvidia.com/gpu")}
		}},
		{name: "on a new node", hop: snapshot.HopLoad, suspect: "pod .*load-1", says: "node-b, which did not exist before", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "load-1").Node = "node-b"
		}},
		{name: "a pod short", hop: snapshot.HopLoad, suspect: "namespace", says: "3 of 4 GPUs", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "load-1" })
		}},
		{name: "crashed", hop: snapshot.HopLoad, suspect: "pod .*load-1", says: "has ended: Failed: exit 127", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "load-1")
			p.Phase, p.Why = "Failed", "exit 127"
		}},
		{name: "of an earlier time", hop: snapshot.HopLoad, suspect: "namespace", says: "0 of 4 GPUs", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Marks[snapshot.MarkLoad] = at(22)
		}},

		{name: "a frozen sample", hop: snapshot.HopExporter, suspect: "gpu-02/gpu2", says: "62 W under load and was 60 W before", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Exporter = slices.DeleteFunc(st.Exporter, func(r snapshot.Reading) bool { return r.Where == "gpu-02/gpu2" && r.Value > 100 })
		}},
		{name: "a GPU that is not read", hop: snapshot.HopExporter, suspect: "dcgm-exporter", says: "3 of the load's 4 GPUs", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Exporter = slices.DeleteFunc(st.Exporter, func(r snapshot.Reading) bool { return r.Where == "gpu-02/gpu2" })
		}},
		{name: "nothing before the load", hop: snapshot.HopExporter, suspect: "gpu-02/gpu", says: "an unknown value before", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Exporter = slices.DeleteFunc(st.Exporter, func(r snapshot.Reading) bool { return r.At.Before(at(21)) })
		}},

		{name: "no rise", hop: snapshot.HopPrometheus, suspect: "series", says: "is 150 W in Prometheus, want above 220 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Prometheus = st.Prometheus[:len(st.Prometheus)-1]
		}},
		{name: "within the HPA's tolerance", hop: snapshot.HopPrometheus, suspect: "series", says: "is 215 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Prometheus[len(st.Prometheus)-1].Value = 215
		}},
		{name: "series gone", hop: snapshot.HopPrometheus, suspect: "series", says: "label mismatch", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Prometheus = []snapshot.Reading{{At: at(24), Err: "empty result"}}
		}},

		{name: "adapter died", hop: snapshot.HopMetricsAPI, suspect: "APIService", says: "MissingEndpoints", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = []snapshot.Reading{{At: at(24), Err: "503"}}
			st.APIs[0].Conditions = []snapshot.Condition{not("Available", "False", "MissingEndpoints", "no endpoints")}
			st.Programs[0].Ready = 0
		}},
		{name: "does not follow", hop: snapshot.HopMetricsAPI, suspect: "adapter rule", says: "API returns 60 W, Prometheus returns 380 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = []snapshot.Reading{{At: at(24), Value: 60}}
		}},
	}
}

func scaleNegatives() []negative {
	stay := func(st *snapshot.State) { st.Desired = st.Desired[:1] }
	return []negative{
		{name: "target changed", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: `target is 1e\+06 W per replica, want 200 W: the value of 380 W does not reach it`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA.Target = 1e6
		}},
		{name: "max reached", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "reached its maximum: maxReplicas is 1, want 3", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA.Max = 1
			st.HPA.Conditions = append(st.HPA.Conditions, snapshot.Condition{Type: "ScalingLimited", Status: "True", Reason: "TooManyReplicas", Message: "the desired replica count is more than the maximum replica count"})
		}},
		{name: "cannot read the metric", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "cannot read the metric: FailedGetExternalMetric: no metrics returned", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA.Conditions[1] = not("ScalingActive", "False", "FailedGetExternalMetric", "no metrics returned from external metrics API")
		}},
		{name: "cannot scale", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "not able to scale: FailedGetScale", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA.Conditions[0] = not("AbleToScale", "False", "FailedGetScale", "forbidden")
		}},
		{name: "target not reached", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "HPA target not reached: the value is 210 W, the HPA scales above 220 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			v := 210.0
			st.Desired = append(st.Desired[:1], snapshot.Desired{At: at(24), Desired: 1, Value: &v})
		}},
		{name: "deleted", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "HPA not found", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA = nil
		}},
		{name: "was not observed", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "no conditions", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stay(st)
			st.HPA.Conditions = nil
		}},
		{name: "scaled before the load", hop: snapshot.HopHPA, suspect: "HorizontalPodAutoscaler", says: "has not reacted", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = []snapshot.Desired{{At: at(15), Desired: 3}}
		}},

		{name: "quota", hop: snapshot.HopPods, suspect: "ReplicaSet", says: "exceeded quota", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "worker-c" })
			st.Events = append(st.Events, snapshot.Event{About: snapshot.Ref{Kind: "ReplicaSet", Namespace: ns, Name: "worker-1", UID: "r"}, Reason: "FailedCreate", Message: "exceeded quota"})
		}},
		{name: "one of two", hop: snapshot.HopPods, suspect: "Deployment", says: "desires 3 replicas; 1 of 2 new pods", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "worker-c" })
		}},
		{name: "a pod without identity", hop: snapshot.HopPods, suspect: "Deployment", says: "1 of 2 new pods", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").UID = ""
		}},
		{name: "an initial replica", hop: snapshot.HopPods, suspect: "Deployment", says: "1 of 2 new pods", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Life = life(8)
		}},

		{name: "found room", hop: snapshot.HopUnschedulable, suspect: "pod .*worker-c", says: "was bound to gpu-01 at once", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-c")
			p.Node = "gpu-01"
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.UID == p.UID })
		}},
		{name: "no scheduler", hop: snapshot.HopUnschedulable, suspect: "pod .*worker-c", says: "reported nothing", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "anything")
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == "worker-c" && e.From != "karpenter" })
		}},
		{name: "queue missing", hop: snapshot.HopUnschedulable, suspect: "Queue nowhere", says: "queue nowhere of pod .*worker-c does not exist: KAI skips the pod", change: func(s *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			s.Scheduler, s.Queue = "kai", "firstlight-run"
			p := podNamed(st, "worker-c")
			p.Scheduler, p.Queue = "kai-scheduler", "nowhere"
			st.Queues = []snapshot.Queue{{Ref: snapshot.Ref{Kind: "Queue", Name: "nowhere"}, Absent: true}}
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == "worker-c" })
		}},
		{name: "another queue, and silence", hop: snapshot.HopUnschedulable, suspect: "Queue nowhere", says: "names queue nowhere, not firstlight-run, and KAI reported no event", change: func(s *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			s.Scheduler, s.Queue = "kai", "firstlight-run"
			p := podNamed(st, "worker-c")
			p.Scheduler, p.Queue = "kai-scheduler", "nowhere"
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == "worker-c" })
		}},
		{name: "a condition is a word, too", hop: snapshot.HopUnschedulable, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == "worker-c" && e.Reason == "FailedScheduling" })
			podNamed(st, "worker-c").Conditions = []snapshot.Condition{not("PodScheduled", "False", "Unschedulable", "no")}
		}},
	}
}

func claimNegatives() []negative {
	const otherActivity = "; incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [firstlight-run] not in karpenter.sh/nodepool In [firstlight-run-zero]"
	return []negative{
		{name: "taint not tolerated", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "taint not tolerated: .*nvidia.com/gpu=present:NoSchedule", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "did not tolerate taint (taint=nvidia.com/gpu=present:NoSchedule)"+otherActivity)
			podNamed(st, "worker-c").Tolerates = []string{"other=x:NoSchedule"}
		}},
		{name: "taint not tolerated, in Karpenter's words only", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "taint not tolerated: .*taint=a=b:NoSchedule", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "did not tolerate taint (taint=a=b:NoSchedule)"+otherActivity)
			st.Pools[0].Taints = nil
		}},
		{name: "limit reached", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: `NodePool limit reached: .*has 1 of at most 0 GPUs`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "all available instance types exceed limits for nodepool (NodePool=firstlight-run)"+otherActivity)
			st.Pools[0].GPULimit, st.Pools[0].GPUs = 0, 1
		}},
		{name: "limit of nodes reached", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: `NodePool limit reached`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "node limits have been exhausted for nodepool (NodePool=firstlight-run)")
		}},
		{name: "another pool's limit is not ours", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "label .* does not have known values", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", `label "x" does not have known values; all available instance types exceed limits for nodepool (NodePool=firstlight-run-zero)`)
		}},
		{name: "no instance type", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: "no instance type fits", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "no instance type has enough resources, requirements=x, resources=y"+otherActivity)
		}},
		{name: "no instance type, the pool left out", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: "no instance type fits", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [firstlight-run] not in karpenter.sh/nodepool In [firstlight-run-zero]")
			st.Events = append(st.Events, snapshot.Event{About: ref("NodePool", own), Reason: "NoCompatibleInstanceTypes", From: "karpenter", Message: "NodePool requirements filtered out all compatible available instance types"})
		}},
		// Messages of Karpenter up to 1.3: aws/karpenter-provider-aws, issues 5169 and 7839; kubernetes-sigs/karpenter, issue 2123.
		{name: "no instance type, and another pool's limit", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: "no instance type fits", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", `all available instance types exceed limits for nodepool: "gpu-a"; incompatible with nodepool "firstlight-run", daemonset overhead={"cpu":"500m","memory":"640Mi","pods":"5"}, no instance type satisfied resources {"cpu":"29500m","memory":"246400Mi","pods":"6"} and requirements karpenter.sh/nodepool In [firstlight-run] (no instance type has enough resources)`)
		}},
		{name: "taint not tolerated, and another pool's limit", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "taint not tolerated: .*arch=arm64:NoSchedule", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", `all available instance types exceed limits for nodepool: "gpu-a"; incompatible with nodepool "firstlight-run", daemonset overhead={"cpu":"180m","memory":"504Mi","pods":"4"}, did not tolerate arch=arm64:NoSchedule`)
			st.Pools[0].Taints = nil
		}},
		{name: "limit reached, and another pool's taint", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: "NodePool limit reached", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", `incompatible with nodepool "arm", daemonset overhead={"cpu":"180m"}, did not tolerate arch=arm64:NoSchedule; all available instance types exceed limits for nodepool: "firstlight-run"`)
		}},
		{name: "pool not ready", hop: snapshot.HopNodeClaim, suspect: "NodePool firstlight-run", says: "not ready: NodeClassNotFound", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			st.Pools[0].Conditions = []snapshot.Condition{not("Ready", "False", "x", ""), not("NodeClassReady", "False", "NodeClassNotFound", "gone")}
		}},
		{name: "Karpenter gone", hop: snapshot.HopNodeClaim, suspect: "karpenter", says: "0 of 1 pods ready", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			st.Programs[1].Ready = 0
		}},
		{name: "no word", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "neither created a node .* nor reported a reason; the scheduler reports: 0/3", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
		}},
		{name: "a claim older than the pod", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "bound to node-c, which was not created by a claim for it", change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-c").Life = life(22)
		}},
		{name: "a claim without a known pod", hop: snapshot.HopNodeClaim, verdict: check.Unobserved, suspect: "NodeClaim claim-node-c", says: "no event names their pod", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.Name == "worker-c" && e.Reason == "Nominated" })
		}},
		{name: "another claim", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "neither created", change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			ordered(st, stranger("other"), "node-x", 25)
			claimNamed(st, "node-x").Ours = false
		}},
		{name: "noise is not counted", hop: snapshot.HopNodeClaim, verdict: check.Passed, change: noise},
		// A node became free: the scheduler bound the second pod to it before Karpenter had planned one. Nodeclaim failed in
		// place of bound, with "Karpenter has neither created a node for the pod nor reported a reason".
		{name: "a pod bound elsewhere before its claim", hop: snapshot.HopNodeClaim, verdict: check.Passed, change: early},
		{name: "all pods bound elsewhere before their claims", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-b", says: "worker-b is bound to stray, which was not created by a claim for it", change: func(s *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-b", "node-b", "")
			podNamed(st, "worker-b").Node = "stray"
			early(s, st)
		}},
	}
}

// noise is another workload with pending pods, claims and nodes of its own.
func noise(_ *snapshot.Setup, st *snapshot.State) {
	for _, n := range []string{"noise-1", "noise-2"} {
		ordered(st, stranger("noise"), n, 24.2)
		claimNamed(st, n).Ours, nodeNamed(st, n).Ours = false, false
		claimNamed(st, n).Conditions = nil
	}
}

func nodeNegatives() []negative {
	without := func(st *snapshot.State, node string, conditions ...snapshot.Condition) {
		st.Nodes = slices.DeleteFunc(st.Nodes, func(n snapshot.Node) bool { return n.Name == node })
		claimNamed(st, node).Conditions = conditions
	}
	return []negative{
		{name: "not launched", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: `is not launched: Launched Unknown \(LaunchFailed\): quota: no capacity`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			without(st, "node-c", not("Launched", "Unknown", "LaunchFailed", "quota"))
			st.Events = append(st.Events, snapshot.Event{About: claimNamed(st, "node-c").Ref, Type: "Warning", Reason: "InsufficientCapacityError", Message: "no capacity"})
		}},
		{name: "never registers", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "launched as g5.xlarge, but its node has not registered", change: func(_ *snapshot.Setup, st *snapshot.State) {
			without(st, "node-c", is("Launched", 25), not("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster"))
		}},
		{name: "claim deleted", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "deleted before its node was in use", change: func(_ *snapshot.Setup, st *snapshot.State) {
			without(st, "node-c", is("Launched", 25))
			claimNamed(st, "node-c").Deleted = at(25.5)
		}},
		{name: "a node of the same name", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "has not registered", change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-c").ProviderID = "kwok://another"
		}},
		// A run of two minutes that said no more than "not every node of the new pods is registered".
		{name: "a pod in place of one that was deleted", hop: snapshot.HopRegistered, suspect: "pod .*worker-c", says: `worker-c, one of the new pods, was deleted under load .* after its creation: Evicted: drained; the HPA desired 2 \(380 W\), then 3 \(380 W\)`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-c")
			again := *p
			p.Deleting, p.Deleted = at(26), at(26.1)
			st.Events = append(st.Events, snapshot.Event{About: p.Ref, Reason: "Evicted", Message: "drained", First: at(26)})
			again.Name, again.UID, again.Created, again.First = "worker-d", "worker-d", at(27), at(27)
			st.Pods = append(st.Pods, again)
		}},
		{name: "the node of a pending pod was deleted", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "deleted before its node was in use", change: func(s *snapshot.Setup, st *snapshot.State) {
			emptied(s, st)
			podNamed(st, "worker-c").Node = ""
		}},
		{name: "a node that was deleted", hop: snapshot.HopRegistered, suspect: "node", says: `2 pods .*worker-b, worker-c, 2 claims active .*, 2 nodes .*node-c \(gone\)`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-c").Deleted = at(26)
		}},
		// The HPA made two steps. The first pod was bound elsewhere, and Karpenter removed its empty node
		// before the second node registered: registered failed in place of bound.
		{name: "the empty node of a pod bound elsewhere was deleted", hop: snapshot.HopRegistered, verdict: check.Passed, change: emptied},
		{name: "a pod bound elsewhere before its claim", hop: snapshot.HopRegistered, verdict: check.Passed, change: early},
		{name: "noise", hop: snapshot.HopRegistered, verdict: check.Passed, change: noise},
		// Two steps of the HPA in 0.4 s: the pod of the second step got the first claim, and the pod that
		// this claim had been made for a new one without an event.
		{name: "two pods nominated for one claim", hop: snapshot.HopRegistered, verdict: check.Passed, change: replanned},
		{name: "two pods nominated for one claim, the other's node missing", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "has not registered", change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			without(st, "node-c", is("Launched", 25), not("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster"))
		}},
		{name: "two pods nominated for one claim, the other of other workloads", hop: snapshot.HopRegistered, suspect: "node", says: "2 pods .*, 1 claim active .*", change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			podNamed(st, "worker-c").Node = ""
			nodeNamed(st, "node-c").Holders = []snapshot.Holder{{Ref: stranger("noise").Ref}}
		}},
		{name: "two pods nominated for one claim, the other before them", hop: snapshot.HopRegistered, suspect: "node", says: "2 pods .*, 1 claim active .*", change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			claimNamed(st, "node-c").Created = at(20)
		}},
		{name: "two pods nominated for one claim, and a third claim without a node", hop: snapshot.HopRegistered, verdict: check.Passed, change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			spare := *claimNamed(st, "node-c")
			spare.Name, spare.UID, spare.Node, spare.ProviderID, spare.Conditions = "claim-spare", "spare", "", "", nil
			st.Claims = append([]snapshot.Claim{spare}, st.Claims...)
		}},
		{name: "two pods nominated for one claim, the other of another pool", hop: snapshot.HopRegistered, suspect: "node", says: "2 pods .*, 1 claim active .*", change: func(s *snapshot.Setup, st *snapshot.State) {
			replanned(s, st)
			claimNamed(st, "node-c").Ours = false
		}},

		{name: "not Ready", hop: snapshot.HopReady, suspect: "node node-c", says: `registered but not Ready: Ready False \(KubeletNotReady\): cni`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-c").Conditions = []snapshot.Condition{not("Ready", "False", "KubeletNotReady", "cni")}
		}},
		{name: "the empty node of a pod bound elsewhere was deleted", hop: snapshot.HopReady, verdict: check.Passed, change: emptied},
		{name: "noise", hop: snapshot.HopReady, verdict: check.Passed, change: noise},

		{name: "elsewhere", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "bound to stray, which was not created by a claim for it", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Node = "stray"
		}},
		{name: "elsewhere, before its claim", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "bound to stray, which was not created by a claim for it", change: early},
		{name: "elsewhere, its empty node was deleted", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "bound to stray, which was not created by a claim for it", change: emptied},
		{name: "on an initial node", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "bound to gpu-01, a node from before the run", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Node = "gpu-01"
		}},
		{name: "on the first replica's node", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "not created by a claim for it", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-c").Node = "node-a"
		}},
		{name: "not initialized", hop: snapshot.HopBound, suspect: "node node-c", says: `Ready but not initialized: .*"nvidia.com/gpu" was requested but not registered`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-c")
			p.Node, p.ReadyAt = "", time.Time{}
			c := claimNamed(st, "node-c")
			c.Conditions = append(c.Conditions[:2], not("Initialized", "Unknown", "ResourceNotRegistered", `Resource "nvidia.com/gpu" was requested but not registered`))
		}},
		{name: "does not start", hop: snapshot.HopBound, suspect: "pod .*worker-c", says: "is on node-c and not running: ErrImagePull", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-c")
			p.ReadyAt, p.Why = time.Time{}, "ErrImagePull"
		}},
		{name: "swapped among themselves", hop: snapshot.HopBound, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-b").Node, podNamed(st, "worker-c").Node = "node-c", "node-b"
		}},
		{name: "noise", hop: snapshot.HopBound, verdict: check.Passed, change: noise},
		{name: "two pods nominated for one claim", hop: snapshot.HopBound, verdict: check.Passed, change: replanned},
		{name: "a claim made again after a launch without capacity", hop: snapshot.HopRegistered, verdict: check.Passed, change: relaunched},
		{name: "a claim made again after a launch without capacity", hop: snapshot.HopReady, verdict: check.Passed, change: relaunched},
		{name: "a claim made again after a launch without capacity", hop: snapshot.HopBound, verdict: check.Passed, change: relaunched},
		{name: "a claim made again whose node does not register", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-c", says: "has not registered", change: func(s *snapshot.Setup, st *snapshot.State) {
			relaunched(s, st)
			without(st, "node-c", is("Launched", 25), not("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster"))
		}},
		{name: "no claim made again after a launch without capacity", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-without-capacity", says: "was deleted before its node was in use", change: func(s *snapshot.Setup, st *snapshot.State) {
			relaunched(s, st)
			st.Claims = slices.DeleteFunc(st.Claims, func(c snapshot.Claim) bool { return c.Name == "claim-node-c" })
		}},
		// A claim that had registered counts although it is deleted: its pod has had its node.
		{name: "a claim that was deleted after its registration", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-without-capacity", says: "was deleted before its node was in use", change: func(s *snapshot.Setup, st *snapshot.State) {
			relaunched(s, st)
			c := &st.Claims[len(st.Claims)-1]
			c.Conditions = []snapshot.Condition{is("Launched", 24.2), is("Registered", 24.3)}
		}},
	}
}

// relaunched has Karpenter delete the claim of worker-c, for which the provider had no capacity, and
// make another without an event.
func relaunched(_ *snapshot.Setup, st *snapshot.State) {
	for i := range st.Events {
		if e := &st.Events[i]; e.Reason == "Nominated" && e.About.UID == podNamed(st, "worker-c").UID {
			e.Message = "Pod should schedule on: nodeclaim/claim-without-capacity"
		}
	}
	st.Claims = append(st.Claims, snapshot.Claim{
		Ref: ref("NodeClaim", "claim-without-capacity"), Life: ended(24.2, 24.4), Pool: own, Ours: true,
		Conditions: []snapshot.Condition{not("Launched", "Unknown", "AwaitingReconciliation", "object is awaiting reconciliation")},
	})
}

// replanned has Karpenter nominate worker-b for the claim of worker-c and report nothing for its own.
func replanned(_ *snapshot.Setup, st *snapshot.State) {
	for i := range st.Events {
		if e := &st.Events[i]; e.Reason == "Nominated" && e.About.UID == podNamed(st, "worker-c").UID {
			e.Message = "Pod should schedule on: nodeclaim/" + claimNamed(st, "node-b").Name
		}
	}
}

// emptied binds worker-c to another node and removes its claim and its node.
func emptied(_ *snapshot.Setup, st *snapshot.State) {
	podNamed(st, "worker-c").Node = "stray"
	claimNamed(st, "node-c").Deleted, nodeNamed(st, "node-c").Deleted = at(26), at(26)
}

// early has the scheduler bind worker-c to another node before Karpenter plans one for it.
func early(_ *snapshot.Setup, st *snapshot.State) {
	unplaced(st, "worker-c", "node-c", "")
	podNamed(st, "worker-c").Node = "stray"
}

// grouped turns the chain into one of a node group.
func grouped(s *snapshot.Setup, st *snapshot.State) {
	s.Pool = snapshot.PoolPlan{Autoscaler: "cluster-autoscaler", Name: "gpu"}
	st.Pools, st.Claims = nil, nil
	for i := range st.Nodes {
		st.Nodes[i].Pool = "gpu"
	}
	for i := range st.Events {
		if e := &st.Events[i]; e.Reason == "Nominated" {
			e.Reason, e.From, e.Message = "TriggeredScaleUp", "cluster-autoscaler", "pod triggered scale-up: [{gpu 1->3 (max: 4)}]"
		}
	}
}

// packed has Cluster Autoscaler trigger the scale-up for worker-c by worker-b, whose node worker-c gets.
func packed(s *snapshot.Setup, st *snapshot.State) {
	grouped(s, st)
	b, c := podNamed(st, "worker-b"), podNamed(st, "worker-c")
	b.Node, c.Node = "", ""
	i := slices.IndexFunc(st.Events, func(e snapshot.Event) bool { return e.About.UID == c.UID && e.Reason == "TriggeredScaleUp" })
	e := st.Events[i]
	e.About, e.First, e.Message = b.Ref, at(25), "pod triggered scale-up: [{gpu 2->3 (max: 4)}]"
	st.Events = append(slices.Delete(st.Events, i, i+1), e)
}

func groupNegatives() []negative {
	var out []negative
	for _, hop := range []string{snapshot.HopNodeClaim, snapshot.HopRegistered, snapshot.HopReady, snapshot.HopBound} {
		out = append(out, negative{name: "of a node group", hop: hop, verdict: check.Passed, change: grouped})
	}
	return append(out,
		negative{name: "two steps of the HPA, one pod of which triggered both scale-ups", hop: snapshot.HopNodeClaim, verdict: check.Passed, change: packed},
		negative{name: "a scale-up for one pod of two", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "neither created a node", change: func(s *snapshot.Setup, st *snapshot.State) {
			packed(s, st)
			st.Events = st.Events[:len(st.Events)-1]
		}},
		negative{name: "two scale-ups for one pod before the other", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-c", says: "neither created a node", change: func(s *snapshot.Setup, st *snapshot.State) {
			packed(s, st)
			podNamed(st, "worker-c").First = at(26)
		}},
		negative{name: "a second scale-up for one pod of three", hop: snapshot.HopNodeClaim, suspect: "pod .*worker-d", says: "no scheduler has evaluated", change: func(s *snapshot.Setup, st *snapshot.State) {
			packed(s, st)
			d := *podNamed(st, "worker-c")
			d.Name, d.UID = "worker-d", "uid-worker-d"
			st.Pods = append(st.Pods, d)
		}},
		negative{name: "an existing group that does not scale", hop: snapshot.HopNodeClaim, suspect: "node group gpu", says: "maximum size: pod didn't trigger scale-up: 1 max node group size reached", change: func(s *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-c", "node-c", "")
			grouped(s, st)
			st.Events = append(st.Events, snapshot.Event{About: podNamed(st, "worker-c").Ref, Reason: "NotTriggerScaleUp", From: "cluster-autoscaler", Message: "pod didn't trigger scale-up: 1 max node group size reached"})
		}},
		negative{name: "a group whose scale-up was triggered", hop: snapshot.HopRegistered, suspect: "node group gpu", says: "scale-up of the node group was triggered, but no node was added", change: func(s *snapshot.Setup, st *snapshot.State) {
			grouped(s, st)
			st.Nodes = nil
			for i := range st.Pods {
				if st.Pods[i].Role == snapshot.RoleWorker {
					st.Pods[i].Node = ""
				}
			}
		}},
	)
}
