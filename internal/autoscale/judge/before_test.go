package judge

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/check"
)

func beforeNegatives() []negative {
	down := false
	return []negative{
		{name: "not ready", hop: seen.HopAdapter, suspect: "prometheus-adapter", says: "0 of 1 pods ready: CrashLoopBackOff", change: func(_ *seen.Setup, st *seen.State) {
			st.Programs[0].Ready, st.Programs[0].Why = 0, "CrashLoopBackOff"
		}},
		{name: "not installed", hop: seen.HopAdapter, suspect: "prometheus-adapter", says: "is not there", change: func(_ *seen.Setup, st *seen.State) {
			st.Programs[0].Absent = true
		}},
		{name: "scaled to zero", hop: seen.HopAdapter, suspect: "prometheus-adapter", says: "scaled to 0", change: func(_ *seen.Setup, st *seen.State) {
			st.Programs[0].Desired, st.Programs[0].Ready = 0, 0
		}},
		{name: "APIService absent", hop: seen.HopAdapter, suspect: "APIService v1beta1.external", says: "not registered", change: func(_ *seen.Setup, st *seen.State) {
			st.APIs[0].Absent = true
		}},
		{name: "APIService not Available", hop: seen.HopAdapter, suspect: "APIService v1beta1.external.metrics.k8s.io", says: "FailedDiscoveryCheck: no response", change: func(_ *seen.Setup, st *seen.State) {
			st.APIs[0].Conditions = []seen.Condition{not("Available", "False", "FailedDiscoveryCheck", "no response")}
		}},
		{name: "only the other API is there", hop: seen.HopAdapter, suspect: "APIService custom", says: "not looked at", change: func(s *seen.Setup, _ *seen.State) {
			s.Metric.API = "custom"
		}},

		{name: "Karpenter not ready", hop: seen.HopPool, suspect: "kube-system/karpenter", says: "0 of 1", change: func(_ *seen.Setup, st *seen.State) {
			st.Programs[1].Ready = 0
		}},
		{name: "pool absent", hop: seen.HopPool, suspect: "NodePool firstlight-run", says: "is not there", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].Absent = true
		}},
		{name: "node class not found", hop: seen.HopPool, suspect: "NodePool", says: "NodeClassNotFound: NodeClass not found", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].Conditions = []seen.Condition{not("Ready", "False", "UnhealthyDependents", "NodeClassReady=False"), not("NodeClassReady", "False", "NodeClassNotFound", "NodeClass not found on cluster")}
		}},
		{name: "not validated", hop: seen.HopPool, suspect: "NodePool", says: "NodePoolValidationFailed: bad", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].Conditions = []seen.Condition{not("Ready", "False", "x", ""), not("ValidationSucceeded", "False", "NodePoolValidationFailed", "bad")}
		}},
		{name: "nobody looks at it", hop: seen.HopPool, suspect: "NodePool", says: "no Ready condition", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].Conditions = nil
		}},
		{name: "no limit", hop: seen.HopPool, suspect: "NodePool", says: "states no limit", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].GPULimit = -1
		}},
		{name: "limit 0", hop: seen.HopPool, suspect: "NodePool", says: "nvidia.com/gpu: 0, and the chain needs 2", change: func(_ *seen.Setup, st *seen.State) {
			st.Pools[0].GPULimit = 0
		}},
		{name: "limit reached", hop: seen.HopPool, suspect: "NodePool", says: "7 of at most 8 GPUs", change: func(s *seen.Setup, st *seen.State) {
			s.Pool.Own, st.Pools[0].GPUs = false, 7
		}},
		{name: "KAI not ready", hop: seen.HopPool, suspect: "kai-scheduler", says: "is not there", change: func(s *seen.Setup, _ *seen.State) {
			s.Scheduler = "kai"
		}},
		{name: "the cloud's own cluster autoscaler", hop: seen.HopPool, verdict: check.NotApplicable, change: func(s *seen.Setup, st *seen.State) {
			s.Pool.Autoscaler, st.Programs = "cluster-autoscaler", st.Programs[:1]
		}},
		{name: "cluster autoscaler that runs", hop: seen.HopPool, verdict: check.Passed, change: func(s *seen.Setup, st *seen.State) {
			s.Pool.Autoscaler, st.Pools = "cluster-autoscaler", nil
		}},
		{name: "cluster autoscaler that does not", hop: seen.HopPool, suspect: "karpenter", says: "0 of 1", change: func(s *seen.Setup, st *seen.State) {
			s.Pool.Autoscaler, st.Programs[1].Ready = "cluster-autoscaler", 0
		}},

		{name: "exporter down", hop: seen.HopSeries, suspect: "gpu-02", says: "target on gpu-02 is down: connection refused", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Up, st.Coverage[1].Trouble, st.Coverage[1].Fresh = &down, "connection refused", 0
		}},
		{name: "no target", hop: seen.HopSeries, suspect: "gpu-02", says: "no target on gpu-02: series .* absent", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Up, st.Coverage[1].Fresh = nil, 0
		}},
		{name: "label missing", hop: seen.HopSeries, suspect: "gpu-02", says: "no label that says which GPU.*they have: Hostname", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Unlabelled, st.Coverage[1].Fresh, st.Coverage[1].Labels = 8, 0, []string{"Hostname"}
		}},
		{name: "stale", hop: seen.HopSeries, suspect: "gpu-02", says: "8 of 8 GPUs of gpu-02 have no fresh sample", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Stale, st.Coverage[1].Fresh = 8, 0
		}},
		{name: "a GPU short", hop: seen.HopSeries, suspect: "gpu-02", says: "7 of 8 GPUs", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Fresh = 7
		}},
		{name: "two exporters", hop: seen.HopSeries, suspect: "gpu-02", says: "16 series", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage[1].Fresh = 16
		}},
		{name: "a node that was not asked for", hop: seen.HopSeries, suspect: "gpu-02", says: "not asked", change: func(_ *seen.Setup, st *seen.State) {
			st.Coverage = st.Coverage[:1]
		}},
		{name: "no GPUs to expect", hop: seen.HopSeries, verdict: check.Unobserved, suspect: "inventory", says: "no GPUs", change: func(s *seen.Setup, _ *seen.State) {
			s.GPUs = nil
		}},
	}
}

func controlNegatives() []negative {
	return []negative{
		{name: "no workload", hop: seen.HopPlaced, suspect: "Deployment", says: "could not create a pod: exceeded quota", change: func(_ *seen.Setup, st *seen.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p seen.Pod) bool { return p.Role == seen.RoleWorker })
			st.Events = append(st.Events, seen.Event{About: seen.Ref{Kind: "Deployment", Namespace: ns, Name: "worker", UID: "w"}, Reason: "FailedCreate", Message: "exceeded quota"})
		}},
		{name: "no holder", hop: seen.HopPlaced, suspect: "namespace", says: "0 holders", change: func(_ *seen.Setup, st *seen.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p seen.Pod) bool { return p.Role == seen.RoleHolder })
		}},
		{name: "on a node that was there", hop: seen.HopPlaced, suspect: "pod .*worker-a", says: "bound to gpu-01, a node that was there before", change: func(_ *seen.Setup, st *seen.State) {
			podNamed(st, "worker-a").Node = "gpu-01"
		}},
		{name: "on a node of the given pool that was there", hop: seen.HopPlaced, verdict: check.Passed, change: func(s *seen.Setup, st *seen.State) {
			s.Pool.Own, s.BeforePools = false, map[string]string{"gpu-01": own}
			podNamed(st, "worker-a").Node = "gpu-01"
		}},
		{name: "taint not tolerated", hop: seen.HopPlaced, suspect: "pod .*worker-a", says: `taint not tolerated: .*nvidia.com/gpu=present:NoSchedule of NodePool firstlight-run \(it tolerates: none\)`, change: func(_ *seen.Setup, st *seen.State) {
			unplaced(st, "worker-a", "node-a", "did not tolerate taint (taint=nvidia.com/gpu=present:NoSchedule); incompatible requirements, key karpenter.sh/nodepool, x")
			podNamed(st, "worker-a").Tolerates = nil
		}},
		{name: "holder finds no GPU", hop: seen.HopPlaced, suspect: "pod .*holder", says: "no free GPU.*Insufficient nvidia.com/gpu", change: func(_ *seen.Setup, st *seen.State) {
			p := podNamed(st, "holder")
			p.Node, p.ReadyAt = "", time.Time{}
			p.Conditions = []seen.Condition{not("PodScheduled", "False", "Unschedulable", "2 Insufficient nvidia.com/gpu")}
		}},
		{name: "image", hop: seen.HopPlaced, suspect: "pod .*worker-a", says: "ImagePullBackOff", change: func(_ *seen.Setup, st *seen.State) {
			p := podNamed(st, "worker-a")
			p.ReadyAt, p.Why = time.Time{}, "ImagePullBackOff"
		}},
		{name: "never registers", hop: seen.HopPlaced, suspect: "NodeClaim claim-node-a", says: "launched as g5.xlarge and its node has not registered: .*NodeNotFound", change: func(_ *seen.Setup, st *seen.State) {
			p := podNamed(st, "worker-a")
			p.Node, p.ReadyAt = "", time.Time{}
			st.Nodes = nil
			claimNamed(st, "node-a").Conditions = []seen.Condition{is("Launched", 7), not("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster")}
		}},

		{name: "rule without matches", hop: seen.HopServed, suspect: "adapter rule", says: "does not list dcgm_gpu_power_usage; it lists: dcgm_gpu_utilization; none of the adapter's rules names DCGM_FI_DEV_POWER_USAGE: 404", change: func(_ *seen.Setup, st *seen.State) {
			st.Listed, st.Rules, st.API = []string{"dcgm_gpu_utilization"}, "rules: []", []seen.Reading{{At: at(8), Err: "404"}, {At: at(20), Err: "404"}}
		}},
		{name: "rule of another series", hop: seen.HopServed, suspect: "adapter rule of dcgm_gpu_power_usage", says: "rule without matches", change: func(_ *seen.Setup, st *seen.State) {
			st.Listed, st.API, st.Prometheus = []string{"dcgm_gpu_utilization"}, []seen.Reading{{At: at(20), Err: "404"}}, []seen.Reading{{At: at(20), Err: "no series"}}
		}},
		{name: "listed without a value", hop: seen.HopServed, suspect: "adapter rule", says: "lists dcgm_gpu_power_usage and has no value for .*container=\"load\"", change: func(_ *seen.Setup, st *seen.State) {
			st.API = []seen.Reading{{At: at(20), Err: "no metrics returned"}}
		}},
		{name: "value gone again", hop: seen.HopServed, suspect: "adapter rule", says: "no value", change: func(_ *seen.Setup, st *seen.State) {
			st.API = append(st.API, seen.Reading{At: at(20.3), Err: "no metrics returned"})
		}},
		{name: "label mismatch, exported form", hop: seen.HopServed, suspect: "series", says: `label mismatch: .*16 fresh series.*they have the labels .*exported_namespace`, change: func(_ *seen.Setup, st *seen.State) {
			st.Made, st.Prometheus = nil, nil
			st.Coverage[0].Labels = []string{"Hostname", "exported_container", "exported_namespace"}
		}},
		{name: "no series at all", hop: seen.HopServed, suspect: "series", says: "no fresh series", change: func(_ *seen.Setup, st *seen.State) {
			st.Made, st.Prometheus, st.Coverage = nil, nil, nil
		}},
		{name: "another value than Prometheus", hop: seen.HopServed, suspect: "adapter rule", says: "API says 80 W, Prometheus says 60 W", change: func(_ *seen.Setup, st *seen.State) {
			st.API[len(st.API)-1].Value = 80
		}},
		{name: "idle GPUs dilute", hop: seen.HopServed, suspect: "gpu-02/gpu7", says: `diluted: gpu-02/gpu7 .*no pod uses it`, change: func(_ *seen.Setup, st *seen.State) {
			st.Made = append(st.Made, seen.Sample{Node: "gpu-02", GPU: "7", UUID: "GPU-27", Value: 58, At: at(20)})
		}},
		{name: "others' GPUs dilute", hop: seen.HopServed, suspect: "gpu-02/gpu7", says: `pod research/train`, change: func(_ *seen.Setup, st *seen.State) {
			st.Made = append(st.Made, seen.Sample{Node: "gpu-02", GPU: "7", UUID: "GPU-27", Namespace: "research", Pod: "train", Value: 58, At: at(20)})
		}},
		{name: "stale", hop: seen.HopServed, suspect: "gpu-01/gpu0", says: "stale: 15.5 s old, at most 4.0 s", change: func(_ *seen.Setup, st *seen.State) {
			st.Made[0].At = at(5)
		}},
		{name: "a GPU twice", hop: seen.HopServed, suspect: "gpu-01/gpu0", says: "twice", change: func(_ *seen.Setup, st *seen.State) {
			st.Made = append(st.Made, st.Made[0])
		}},
		{name: "GPU without a name", hop: seen.HopServed, suspect: "gpu-01", says: "does not say which GPU", change: func(_ *seen.Setup, st *seen.State) {
			st.Made[0].GPU, st.Made[0].UUID = "", ""
		}},
		{name: "made of nothing", hop: seen.HopServed, suspect: "series", says: "made of 0 series, and the holder has 1 GPU", change: func(_ *seen.Setup, st *seen.State) {
			st.Made = nil
		}},
		{name: "relist shorter than the scrape", hop: seen.HopServed, suspect: "adapter rule|setting", says: "no value|relists", change: func(s *seen.Setup, st *seen.State) {
			s.Settings = []seen.Setting{{Name: seen.SettingRelist, Value: time.Second, Source: "Deployment"}, {Name: seen.SettingScrape, Value: 30 * time.Second}}
			st.API = []seen.Reading{{At: at(19), Err: "not found"}}
		}},

		{name: "metric rises", hop: seen.HopFlat, suspect: "dcgm_gpu_power_usage", says: "was 300 W without load", change: func(_ *seen.Setup, st *seen.State) {
			st.API[5].Value = 300
		}},
		{name: "HPA scales", hop: seen.HopFlat, suspect: "HorizontalPodAutoscaler", says: "desired 2 replicas without load", change: func(_ *seen.Setup, st *seen.State) {
			st.Desired = append(st.Desired, seen.Desired{At: at(15), Desired: 2})
		}},
		{name: "HPA had scaled before", hop: seen.HopFlat, suspect: "HorizontalPodAutoscaler", says: "desired 2 replicas", change: func(_ *seen.Setup, st *seen.State) {
			st.Desired = append(st.Desired, seen.Desired{At: at(9.5), Desired: 2})
		}},
		{name: "a pod", hop: seen.HopFlat, suspect: "pod .*worker-x", says: "created without load", change: func(_ *seen.Setup, st *seen.State) {
			st.Pods = append(st.Pods, pod(seen.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a pod in the place of one that was deleted", hop: seen.HopFlat, verdict: check.Passed, change: func(_ *seen.Setup, st *seen.State) {
			for i := range st.Pods {
				if st.Pods[i].Role == seen.RoleWorker {
					st.Pods[i].Deleting = at(14)
				}
			}
			st.Pods = append(st.Pods, pod(seen.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a pod before another is deleted", hop: seen.HopFlat, suspect: "pod .*worker-x", says: "there were 2 replicas then", change: func(_ *seen.Setup, st *seen.State) {
			for i := range st.Pods {
				if st.Pods[i].Role == seen.RoleWorker {
					st.Pods[i].Deleting = at(16)
				}
			}
			st.Pods = append(st.Pods, pod(seen.RoleWorker, "worker-x", "", 15, 0))
		}},
		{name: "a claim", hop: seen.HopFlat, suspect: "NodeClaim claim-node-x", says: "created without load", change: func(_ *seen.Setup, st *seen.State) {
			ordered(st, stranger("none"), "node-x", 15)
		}},
		{name: "others' claim and node", hop: seen.HopFlat, verdict: check.Passed, change: func(_ *seen.Setup, st *seen.State) {
			ordered(st, stranger("none"), "node-x", 15)
			claimNamed(st, "node-x").Ours, nodeNamed(st, "node-x").Ours = false, false
		}},
		{name: "a node of our pool for others' pods", hop: seen.HopFlat, verdict: check.Passed, change: func(_ *seen.Setup, st *seen.State) {
			ordered(st, stranger("none"), "node-x", 15)
			nodeNamed(st, "node-x").Holders = []seen.Holder{{Ref: seen.Ref{Kind: "Pod", Namespace: "research", Name: "train", UID: "t"}}}
		}},
		{name: "too few readings", hop: seen.HopFlat, verdict: check.Unobserved, suspect: "window", says: "too few", change: func(_ *seen.Setup, st *seen.State) {
			st.API = st.API[:4]
		}},
		{name: "a gap", hop: seen.HopFlat, verdict: check.Unobserved, suspect: "window", says: "none for 6.0 s", change: func(_ *seen.Setup, st *seen.State) {
			st.API = slices.DeleteFunc(st.API, func(r seen.Reading) bool { return r.At.After(at(11.5)) && r.At.Before(at(17)) })
		}},
		{name: "a window cut short", hop: seen.HopFlat, verdict: check.Unobserved, suspect: "window", says: "not seen to its end", change: func(_ *seen.Setup, st *seen.State) {
			st.Marks[seen.MarkWindowTo] = at(15)
		}},
		{name: "a silent HPA", hop: seen.HopFlat, verdict: check.Unobserved, suspect: "HorizontalPodAutoscaler", says: "proves nothing", change: func(_ *seen.Setup, st *seen.State) {
			st.Desired = nil
		}},

		{name: "a claim", hop: seen.HopLimitZero, suspect: "NodeClaim claim-node-z", says: "whose limit is nvidia.com/gpu: 0", change: func(_ *seen.Setup, st *seen.State) {
			ordered(st, stranger("uid-zero"), "node-z", 15)
			claimNamed(st, "node-z").Pool = zero
		}},
		{name: "bound", hop: seen.HopLimitZero, suspect: "pod .*zero", says: "bound to gpu-01", change: func(_ *seen.Setup, st *seen.State) {
			podNamed(st, "zero").Node = "gpu-01"
		}},
		{name: "no word", hop: seen.HopLimitZero, verdict: check.Unobserved, suspect: "Karpenter", says: "has not looked", change: func(_ *seen.Setup, st *seen.State) {
			st.Events = nil
		}},
		{name: "another reason", hop: seen.HopLimitZero, verdict: check.Unobserved, suspect: "pod .*zero", says: "another reason than the limit: .*no instance type", change: func(_ *seen.Setup, st *seen.State) {
			st.Events[len(st.Events)-1].Message = "Failed to schedule pod, no instance type has enough resources"
		}},
		{name: "no pod", hop: seen.HopLimitZero, suspect: "namespace", says: "does not exist", change: func(_ *seen.Setup, st *seen.State) {
			st.Pods = st.Pods[:2]
		}},
		{name: "the window is not over", hop: seen.HopLimitZero, verdict: check.Unobserved, suspect: "window", says: "not over", change: func(_ *seen.Setup, st *seen.State) {
			delete(st.Marks, seen.MarkWindowTo)
		}},
		{name: "node groups have no such pool", hop: seen.HopLimitZero, verdict: check.NotApplicable, change: func(s *seen.Setup, _ *seen.State) {
			s.Pool.Autoscaler, s.Pool.Zero = "cluster-autoscaler", ""
		}},
	}
}
