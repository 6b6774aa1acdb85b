package judge

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

func beforeNegatives() []negative {
	down := false
	return []negative{
		{name: "not ready", hop: snapshot.HopAdapter, suspect: "prometheus-adapter", says: "0 of 1 pods ready: CrashLoopBackOff", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Programs[0].Ready, st.Programs[0].Why = 0, "CrashLoopBackOff"
		}},
		{name: "not installed", hop: snapshot.HopAdapter, suspect: "prometheus-adapter", says: "not found", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Programs[0].Absent = true
		}},
		{name: "scaled to zero", hop: snapshot.HopAdapter, suspect: "prometheus-adapter", says: "scaled to 0", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Programs[0].Desired, st.Programs[0].Ready = 0, 0
		}},
		{name: "APIService absent", hop: snapshot.HopAdapter, suspect: "APIService v1beta1.external", says: "not registered", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.APIs[0].Absent = true
		}},
		{name: "KEDA owns the APIService", hop: snapshot.HopAdapter, suspect: "APIService v1beta1.external.metrics.k8s.io", says: "is served by keda/keda-operator-metrics-apiserver, not by Deployment monitoring/prometheus-adapter", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.APIs[0].Service = "keda/keda-operator-metrics-apiserver"
		}},
		{name: "APIService not Available", hop: snapshot.HopAdapter, suspect: "APIService v1beta1.external.metrics.k8s.io", says: "FailedDiscoveryCheck: no response", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.APIs[0].Conditions = []snapshot.Condition{not("Available", "False", "FailedDiscoveryCheck", "no response")}
		}},
		{name: "only the other API exists", hop: snapshot.HopAdapter, suspect: "APIService custom", says: "was not observed", change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.Metric.API = "custom"
		}},

		{name: "Karpenter not ready", hop: snapshot.HopPool, suspect: "kube-system/karpenter", says: "0 of 1", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Programs[1].Ready = 0
		}},
		{name: "pool absent", hop: snapshot.HopPool, suspect: "NodePool firstlight-run", says: "not found", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].Absent = true
		}},
		{name: "node class not found", hop: snapshot.HopPool, suspect: "NodePool", says: "NodeClassNotFound: NodeClass not found", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].Conditions = []snapshot.Condition{not("Ready", "False", "UnhealthyDependents", "NodeClassReady=False"), not("NodeClassReady", "False", "NodeClassNotFound", "NodeClass not found on cluster")}
		}},
		{name: "not validated", hop: snapshot.HopPool, suspect: "NodePool", says: "NodePoolValidationFailed: bad", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].Conditions = []snapshot.Condition{not("Ready", "False", "x", ""), not("ValidationSucceeded", "False", "NodePoolValidationFailed", "bad")}
		}},
		{name: "no controller", hop: snapshot.HopPool, suspect: "NodePool", says: "no Ready condition", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].Conditions = nil
		}},
		{name: "no limit", hop: snapshot.HopPool, suspect: "NodePool", says: "has no limit", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].GPULimit = -1
		}},
		{name: "limit 0", hop: snapshot.HopPool, suspect: "NodePool", says: "nvidia.com/gpu: 0, the chain needs 2", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].GPULimit = 0
		}},
		{name: "limit reached", hop: snapshot.HopPool, suspect: "NodePool", says: "7 of at most 8,", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Own, st.Pools[0].GPUs = false, 7
		}},
		{name: "KAI not ready", hop: snapshot.HopPool, suspect: "kai-scheduler", says: "not found", change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.Scheduler = "kai"
		}},
		{name: "the cloud's own cluster autoscaler", hop: snapshot.HopPool, verdict: check.NotApplicable, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, s.Pool.Managed, st.Programs = "cluster-autoscaler", true, st.Programs[:1]
		}},
		{name: "cluster autoscaler that was not observed", hop: snapshot.HopPool, verdict: check.Unobserved, suspect: "cluster-autoscaler", says: "was not observed", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, st.Programs = "cluster-autoscaler", st.Programs[:1]
		}},
		{name: "cluster autoscaler that is not installed", hop: snapshot.HopPool, suspect: "karpenter", says: "not found", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, st.Programs[1].Absent = "cluster-autoscaler", true
		}},
		{name: "cluster autoscaler that runs", hop: snapshot.HopPool, verdict: check.Passed, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, st.Pools = "cluster-autoscaler", nil
		}},
		{name: "cluster autoscaler that does not", hop: snapshot.HopPool, suspect: "karpenter", says: "0 of 1", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Autoscaler, st.Programs[1].Ready = "cluster-autoscaler", 0
		}},

		{name: "exporter down", hop: snapshot.HopSeries, suspect: "gpu-02", says: "target on gpu-02 is down: connection refused", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Up, st.Coverage[1].Trouble, st.Coverage[1].Fresh = &down, "connection refused", 0
		}},
		{name: "no target", hop: snapshot.HopSeries, suspect: "gpu-02", says: "no target on gpu-02: series .* absent", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Up, st.Coverage[1].Fresh = nil, 0
		}},
		{name: "targets not listed, no series", hop: snapshot.HopSeries, suspect: "gpu-02", says: "no target on gpu-02: series .* absent: the endpoint does not list targets", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1] = snapshot.Coverage{Node: "gpu-02", Expected: 8, Trouble: "the endpoint does not list targets"}
		}},
		{name: "targets not listed", hop: snapshot.HopSeries, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			for i := range st.Coverage {
				st.Coverage[i].Up, st.Coverage[i].Trouble = nil, "the endpoint does not list targets"
			}
		}},
		{name: "label missing", hop: snapshot.HopSeries, suspect: "gpu-02", says: "no GPU label; their labels: Hostname", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Unlabelled, st.Coverage[1].Fresh, st.Coverage[1].Labels = 8, 0, []string{"Hostname"}
		}},
		{name: "stale", hop: snapshot.HopSeries, suspect: "gpu-02", says: "8 of 8 GPUs of gpu-02 have only stale samples", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Stale, st.Coverage[1].Fresh = 8, 0
		}},
		{name: "a GPU short", hop: snapshot.HopSeries, suspect: "gpu-02", says: "7 of 8 GPUs", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Fresh = 7
		}},
		{name: "two exporters", hop: snapshot.HopSeries, suspect: "gpu-02", says: "16 series", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[1].Fresh = 16
		}},
		{name: "a node that was not asked for", hop: snapshot.HopSeries, suspect: "gpu-02", says: "not queried", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage = st.Coverage[:1]
		}},
		{name: "no GPUs to expect", hop: snapshot.HopSeries, verdict: check.Unobserved, suspect: "inventory", says: "no GPUs", change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.GPUs = nil
		}},
	}
}

func controlNegatives() []negative {
	return []negative{
		{name: "no workload", hop: snapshot.HopPlaced, suspect: "Deployment", says: "could not create a pod: exceeded quota", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Role == snapshot.RoleWorker })
			st.Events = append(st.Events, snapshot.Event{About: snapshot.Ref{Kind: "Deployment", Namespace: ns, Name: "worker", UID: "w"}, Reason: "FailedCreate", Message: "exceeded quota"})
		}},
		{name: "no holder", hop: snapshot.HopPlaced, suspect: "namespace", says: "0 holders", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Role == snapshot.RoleHolder })
		}},
		{name: "on an initial node", hop: snapshot.HopPlaced, suspect: "pod .*worker-a", says: "bound to gpu-01, a node from before the run", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-a").Node = "gpu-01"
		}},
		{name: "on an initial node of the given pool", hop: snapshot.HopPlaced, verdict: check.Passed, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Pool.Own, s.BeforePools = false, map[string]string{"gpu-01": own}
			podNamed(st, "worker-a").Node = "gpu-01"
		}},
		{name: "taint not tolerated", hop: snapshot.HopPlaced, suspect: "pod .*worker-a", says: `taint not tolerated: .*nvidia.com/gpu=present:NoSchedule of NodePool firstlight-run \(it tolerates: none\)`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			unplaced(st, "worker-a", "node-a", "did not tolerate taint (taint=nvidia.com/gpu=present:NoSchedule); incompatible requirements, key karpenter.sh/nodepool, x")
			podNamed(st, "worker-a").Tolerates = nil
		}},
		{name: "holder finds no GPU", hop: snapshot.HopPlaced, suspect: "pod .*holder", says: "no free GPU.*Insufficient nvidia.com/gpu", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "holder")
			p.Node, p.ReadyAt = "", time.Time{}
			p.Conditions = []snapshot.Condition{not("PodScheduled", "False", "Unschedulable", "2 Insufficient nvidia.com/gpu")}
		}},
		{name: "image", hop: snapshot.HopPlaced, suspect: "pod .*worker-a", says: "ImagePullBackOff", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-a")
			p.ReadyAt, p.Why = time.Time{}, "ImagePullBackOff"
		}},
		{name: "never registers", hop: snapshot.HopPlaced, suspect: "NodeClaim claim-node-a", says: "launched as g5.xlarge, but its node has not registered: .*NodeNotFound", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := podNamed(st, "worker-a")
			p.Node, p.ReadyAt = "", time.Time{}
			st.Nodes = nil
			claimNamed(st, "node-a").Conditions = []snapshot.Condition{is("Launched", 7), not("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster")}
		}},

		{name: "rule without matches", hop: snapshot.HopServed, suspect: "adapter rule", says: "does not list dcgm_gpu_power_usage; it lists: dcgm_gpu_utilization; no rule of the adapter names DCGM_FI_DEV_POWER_USAGE: 404", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Listed, st.Rules, st.API = []string{"dcgm_gpu_utilization"}, "rules: []", []snapshot.Reading{{At: at(8), Err: "404"}, {At: at(20), Err: "404"}}
		}},
		{name: "rule of another series", hop: snapshot.HopServed, suspect: "adapter rule of dcgm_gpu_power_usage", says: "rule without matches", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Listed, st.API, st.Prometheus = []string{"dcgm_gpu_utilization"}, []snapshot.Reading{{At: at(20), Err: "404"}}, []snapshot.Reading{{At: at(20), Err: "no series"}}
		}},
		{name: "listed without a value", hop: snapshot.HopServed, suspect: "adapter rule", says: "lists dcgm_gpu_power_usage but has no value for .*container=\"load\"", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = []snapshot.Reading{{At: at(20), Err: "no metrics returned"}}
		}},
		{name: "value gone again", hop: snapshot.HopServed, suspect: "adapter rule", says: "no value", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = append(st.API, snapshot.Reading{At: at(20.3), Err: "no metrics returned"})
		}},
		{name: "label mismatch, exported form", hop: snapshot.HopServed, suspect: "series", says: `label mismatch: .*16 fresh series.*their labels: .*exported_namespace`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made, st.Prometheus = nil, nil
			st.Coverage[0].Labels = []string{"Hostname", "exported_container", "exported_namespace"}
		}},
		{name: "no series at all", hop: snapshot.HopServed, suspect: "series", says: "no fresh series", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made, st.Prometheus, st.Coverage = nil, nil, nil
		}},
		{name: "another value than Prometheus", hop: snapshot.HopServed, suspect: "adapter rule", says: "API returns 80 W, Prometheus returns 60 W", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API[len(st.API)-1].Value = 80
		}},
		{name: "idle GPUs dilute", hop: snapshot.HopServed, suspect: "gpu-02/gpu7", says: `diluted: it includes gpu-02/gpu7, .*used by no pod`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made = append(st.Made, snapshot.Sample{Node: "gpu-02", GPU: "7", UUID: "GPU-27", Value: 58, At: at(20)})
		}},
		{name: "others' GPUs dilute", hop: snapshot.HopServed, suspect: "gpu-02/gpu7", says: `pod research/train`, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made = append(st.Made, snapshot.Sample{Node: "gpu-02", GPU: "7", UUID: "GPU-27", Namespace: "research", Pod: "train", Value: 58, At: at(20)})
		}},
		{name: "stale", hop: snapshot.HopServed, suspect: "gpu-01/gpu0", says: "stale: 15.5 s old, want at most 4.0 s", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made[0].At = at(5)
		}},
		{name: "a GPU twice", hop: snapshot.HopServed, suspect: "gpu-01/gpu0", says: "twice", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made = append(st.Made, st.Made[0])
		}},
		{name: "GPU without a name", hop: snapshot.HopServed, suspect: "gpu-01", says: "has no GPU label", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made[0].GPU, st.Made[0].UUID = "", ""
		}},
		{name: "made of nothing", hop: snapshot.HopServed, suspect: "series", says: "consists of 0 series, the holder has 1 GPU", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made = nil
		}},
		{name: "relist shorter than the scrape", hop: snapshot.HopServed, suspect: "adapter rule|setting", says: "no value|relists", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Settings = []snapshot.Setting{{Name: snapshot.SettingRelist, Value: metav1.Duration{Duration: time.Second}, Source: "Deployment"}, {Name: snapshot.SettingScrape, Value: metav1.Duration{Duration: 30 * time.Second}}}
			st.API = []snapshot.Reading{{At: at(19), Err: "not found"}}
		}},

		{name: "metric rises", hop: snapshot.HopFlat, suspect: "dcgm_gpu_power_usage", says: "was 300 W without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API[5].Value = 300
		}},
		{name: "HPA scales", hop: snapshot.HopFlat, suspect: "HorizontalPodAutoscaler", says: "desired 2 replicas without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = append(st.Desired, snapshot.Desired{At: at(15), Desired: 2})
		}},
		{name: "HPA had scaled before", hop: snapshot.HopFlat, suspect: "HorizontalPodAutoscaler", says: "desired 2 replicas", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = append(st.Desired, snapshot.Desired{At: at(9.5), Desired: 2})
		}},
		{name: "a pod", hop: snapshot.HopFlat, suspect: "pod .*worker-x", says: "created without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = append(st.Pods, pod(snapshot.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a pod in the place of one that was deleted", hop: snapshot.HopFlat, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			for i := range st.Pods {
				if st.Pods[i].Role == snapshot.RoleWorker {
					st.Pods[i].Deleting = at(14)
				}
			}
			st.Pods = append(st.Pods, pod(snapshot.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a pod before another is deleted", hop: snapshot.HopFlat, suspect: "pod .*worker-x", says: "one of 2 replicas", change: func(_ *snapshot.Setup, st *snapshot.State) {
			for i := range st.Pods {
				if st.Pods[i].Role == snapshot.RoleWorker {
					st.Pods[i].Deleting = at(16)
				}
			}
			st.Pods = append(st.Pods, pod(snapshot.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a claim for the run", hop: snapshot.HopFlat, suspect: "NodeClaim claim-node-x", says: "created without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, *podNamed(st, "worker-a"), "node-x", 15)
		}},
		{name: "a node that the run uses", hop: snapshot.HopFlat, suspect: "node node-x", says: "added without load", change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("none"), "node-x", 15)
			st.Claims = slices.DeleteFunc(st.Claims, func(c snapshot.Claim) bool { return c.Name == "claim-node-x" })
			nodeNamed(st, "node-x").Holders = []snapshot.Holder{{Ref: ref("Pod", "x"), Ours: true}}
		}},
		{name: "a claim without a node yet", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "NodeClaim claim-node-x", says: "no pod shows which workload it is for", change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("none"), "node-x", 15)
			st.Nodes = slices.DeleteFunc(st.Nodes, func(n snapshot.Node) bool { return n.Name == "node-x" })
		}},
		{name: "a node without pods yet", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "node node-x|NodeClaim claim-node-x", says: "no pod shows which workload it is for", change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("none"), "node-x", 15)
		}},
		{name: "others' claim and node", hop: snapshot.HopFlat, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("none"), "node-x", 15)
			claimNamed(st, "node-x").Ours, nodeNamed(st, "node-x").Ours = false, false
		}},
		{name: "a node of our pool for others' pods", hop: snapshot.HopFlat, verdict: check.Passed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("none"), "node-x", 15)
			nodeNamed(st, "node-x").Holders = []snapshot.Holder{{Ref: snapshot.Ref{Kind: "Pod", Namespace: "research", Name: "train", UID: "t"}}}
		}},
		{name: "too few readings", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "window", says: "too few", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = st.API[:4]
		}},
		{name: "a gap", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "window", says: "a gap of 6.0 s", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = slices.DeleteFunc(st.API, func(r snapshot.Reading) bool { return r.At.After(at(11.5)) && r.At.Before(at(17)) })
		}},
		{name: "a window cut short", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "window", says: "not observed to its end", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Marks[snapshot.MarkWindowTo] = at(15)
		}},
		{name: "a silent HPA", hop: snapshot.HopFlat, verdict: check.Unobserved, suspect: "HorizontalPodAutoscaler", says: "proves nothing", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Desired = nil
		}},

		{name: "a claim", hop: snapshot.HopLimitZero, suspect: "NodeClaim claim-node-z", says: "whose limit is nvidia.com/gpu: 0", change: func(_ *snapshot.Setup, st *snapshot.State) {
			ordered(st, stranger("uid-zero"), "node-z", 15)
			claimNamed(st, "node-z").Pool = zero
		}},
		{name: "bound", hop: snapshot.HopLimitZero, suspect: "pod .*zero", says: "bound to gpu-01", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "zero").Node = "gpu-01"
		}},
		{name: "no word", hop: snapshot.HopLimitZero, verdict: check.Unobserved, suspect: "Karpenter", says: "has not evaluated", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Events = nil
		}},
		{name: "another reason", hop: snapshot.HopLimitZero, verdict: check.Unobserved, suspect: "pod .*zero", says: "a reason other than the limit: .*no instance type", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Events[len(st.Events)-1].Message = "Failed to schedule pod, no instance type has enough resources"
		}},
		{name: "no pod", hop: snapshot.HopLimitZero, suspect: "namespace", says: "does not exist", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = st.Pods[:2]
		}},
		{name: "the window is not over", hop: snapshot.HopLimitZero, verdict: check.Unobserved, suspect: "window", says: "not over", change: func(_ *snapshot.Setup, st *snapshot.State) {
			delete(st.Marks, snapshot.MarkWindowTo)
		}},
		{name: "node groups have no such pool", hop: snapshot.HopLimitZero, verdict: check.NotApplicable, change: func(s *snapshot.Setup, _ *snapshot.State) {
			s.Pool.Autoscaler, s.Pool.Zero = "cluster-autoscaler", ""
		}},
	}
}
