package judge

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
)

var t0 = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// at is so many seconds after the run began.
func at(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

func life(s float64) seen.Life { return seen.Life{Created: at(s).Truncate(time.Second), First: at(s)} }

func ended(from, to float64) seen.Life {
	l := life(from)
	l.Deleting, l.Deleted = at(to-0.5), at(to)
	return l
}

func is(kind string, s float64) seen.Condition {
	return seen.Condition{Type: kind, Status: "True", Seen: at(s)}
}

func not(kind, status, reason, message string) seen.Condition {
	return seen.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

const (
	ns   = "firstlight-run"
	own  = "firstlight-run"
	zero = "firstlight-run-zero"
)

func ref(kind, name string) seen.Ref {
	r := seen.Ref{Kind: kind, Name: name, UID: "uid-" + name}
	if kind == "Pod" || kind == "HorizontalPodAutoscaler" || kind == "Deployment" {
		r.Namespace = ns
	}
	return r
}

func setup() seen.Setup {
	s := seen.Setup{
		Run: "run", Namespace: ns, Began: t0,
		Metric: seen.Metric{
			API: "external", Name: "dcgm_gpu_power_usage", Series: "DCGM_FI_DEV_POWER_USAGE", Unit: "W", Form: "plain",
			Selector: map[string]string{"namespace": ns, "container": "load"}, Query: "avg(x)",
		},
		Scale: seen.Scale{Target: 200, Min: 1, Max: 3, GPUs: 1, LoadGPUs: 4},
		Pool:  seen.PoolPlan{Autoscaler: "karpenter", Name: own, Own: true, Zero: zero, GPULimit: 8, InstanceTypes: []string{"g5.xlarge"}},
		Gang:  3, Window: 10 * time.Second, Scheduler: "default",
		GPUs: map[string]int{"gpu-01": 8, "gpu-02": 8},
	}
	for _, n := range []string{"system-01", "gpu-01", "gpu-02"} {
		s.Before = append(s.Before, ref("Node", n))
	}
	for name, v := range map[string]time.Duration{
		seen.SettingSample: time.Second, seen.SettingScrape: time.Second, seen.SettingRelist: 2 * time.Second, seen.SettingWindow: 5 * time.Second,
		seen.SettingHPASync: time.Second, seen.SettingBatchMax: time.Second,
	} {
		s.Settings = append(s.Settings, seen.Setting{Name: name, Value: v, Source: "test"})
	}
	return s
}

// until is a healthy state at the end of a phase, with all that came before it.
func until(phase string) seen.State {
	st := seen.State{Marks: map[string]time.Time{}}
	for _, p := range []struct {
		name string
		add  func(*seen.State)
	}{
		{seen.PhaseBefore, addBefore}, {seen.PhaseControl, addControl}, {seen.PhaseUp, addUp},
		{seen.PhaseDown, addDown}, {seen.PhaseGang, addGang}, {seen.PhaseClean, addClean},
	} {
		p.add(&st)
		if p.name == phase {
			break
		}
	}
	return st
}

func addBefore(st *seen.State) {
	st.At = at(5)
	up := true
	st.APIs = []seen.APIService{{Ref: seen.Ref{Kind: "APIService", Name: "v1beta1.external.metrics.k8s.io", UID: "a"}, Service: "monitoring/prometheus-adapter", Conditions: []seen.Condition{is("Available", 1)}}}
	st.Programs = []seen.Program{
		{Ref: seen.Ref{Kind: "Deployment", Namespace: "monitoring", Name: "prometheus-adapter", UID: "d1"}, Role: "adapter", Desired: 1, Ready: 1},
		{Ref: seen.Ref{Kind: "Deployment", Namespace: "kube-system", Name: "karpenter", UID: "d2"}, Role: "autoscaler", Desired: 1, Ready: 1},
	}
	pool := seen.Pool{
		Ref: ref("NodePool", own), Life: life(1), GPULimit: 8, ConsolidateAfter: "1s", Policy: "WhenEmptyOrUnderutilized", Budgets: []string{"100%"},
		Taints: []string{"nvidia.com/gpu=present:NoSchedule"}, Requirements: []string{"node.kubernetes.io/instance-type In [g5.xlarge]"}, Conditions: []seen.Condition{is("Ready", 2)},
	}
	none := pool
	none.Ref, none.GPULimit = ref("NodePool", zero), 0
	st.Pools = []seen.Pool{pool, none}
	for _, n := range []string{"gpu-01", "gpu-02"} {
		st.Coverage = append(st.Coverage, seen.Coverage{Node: n, Expected: 8, Fresh: 8, Up: &up, Labels: []string{"Hostname", "container", "gpu", "namespace", "pod"}})
	}
	st.Listed = []string{"dcgm_gpu_power_usage"}
}

func pod(role, name, node string, came, ready float64) seen.Pod {
	p := seen.Pod{
		Ref: ref("Pod", name), Life: life(came), Role: role, Phase: "Running", Node: node, BoundAt: at(ready - 0.2), ReadyAt: at(ready), GPUs: 1,
		Scheduler: "default-scheduler", Selector: map[string]string{"karpenter.sh/nodepool": own}, Tolerates: []string{"nvidia.com/gpu=present:NoSchedule"},
	}
	if node == "" {
		p.Phase, p.BoundAt, p.ReadyAt = "Pending", time.Time{}, time.Time{}
	}
	return p
}

// ordered is a claim with its node, for a pod.
func ordered(st *seen.State, p seen.Pod, name string, came float64) {
	id := "kwok://" + name
	st.Claims = append(st.Claims, seen.Claim{
		Ref: ref("NodeClaim", "claim-"+name), Life: life(came), Pool: own, Ours: true, InstanceType: "g5.xlarge", Node: name, ProviderID: id, GPUs: 1,
		Conditions: []seen.Condition{is("Launched", came), is("Registered", came+0.4), is("Initialized", came+0.6), is("Consolidatable", came+2)},
	})
	st.Nodes = append(st.Nodes, seen.Node{
		Ref: ref("Node", name), Life: life(came + 0.3), Pool: own, Ours: true, InstanceType: "g5.xlarge", ProviderID: id, GPUs: 1,
		Conditions: []seen.Condition{is("Ready", came+0.5)},
	})
	st.Events = append(st.Events,
		seen.Event{About: p.Ref, Type: "Warning", Reason: "FailedScheduling", From: "default-scheduler", Message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: not helpful.", First: at(came - 0.4)},
		seen.Event{About: p.Ref, Type: "Normal", Reason: "Nominated", From: "karpenter", Message: "Pod should schedule on: nodeclaim/claim-" + name, First: at(came)},
	)
}

func addControl(st *seen.State) {
	st.Marks[seen.MarkPlaced] = at(6)
	worker := pod(seen.RoleWorker, "worker-a", "node-a", 6.1, 9)
	ordered(st, worker, "node-a", 7)
	holder := pod(seen.RoleHolder, "holder", "gpu-01", 6.1, 8)
	st.Pods = append(st.Pods, worker, holder, pod(seen.RoleZero, "zero", "", 10.1, 0))
	st.HPA = &seen.HPA{Ref: ref("HorizontalPodAutoscaler", "worker"), Life: life(6), Min: 1, Max: 3, Target: 200, Conditions: []seen.Condition{is("AbleToScale", 7), is("ScalingActive", 8)}}
	idle := 60.0
	st.Desired = []seen.Desired{{At: at(8.5), Current: 1, Desired: 1, Value: &idle}}
	st.Marks[seen.MarkWindow], st.Marks[seen.MarkWindowTo] = at(10), at(20)
	for s := 8.0; s <= 20; s++ {
		st.Exporter = append(st.Exporter, seen.Reading{At: at(s), Value: 60, Where: "gpu-02/gpu0"})
		st.Prometheus = append(st.Prometheus, seen.Reading{At: at(s + 0.1), Value: 60})
		st.API = append(st.API, seen.Reading{At: at(s + 0.2), Value: 60})
	}
	st.Made = []seen.Sample{{Node: "gpu-01", GPU: "0", UUID: "GPU-1", Namespace: ns, Pod: "holder", Container: "load", Value: 60, At: at(20)}}
	st.Events = append(st.Events, seen.Event{
		About: ref("Pod", "zero"), Type: "Warning", Reason: "FailedScheduling", From: "karpenter",
		Message: "Failed to schedule pod, incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [firstlight-run-zero] not in karpenter.sh/nodepool In [firstlight-run]; all available instance types exceed limits for nodepool (NodePool=firstlight-run-zero)", First: at(11),
	})
	st.At = at(20.5)
}

func addUp(st *seen.State) {
	st.Marks[seen.MarkLoad] = at(21)
	for i := range 4 {
		st.Pods = append(st.Pods, pod(seen.RoleLoad, fmt.Sprintf("load-%d", i), "gpu-02", 21.1, 21.5))
	}
	for i := range 4 {
		where := fmt.Sprintf("gpu-02/gpu%d", i)
		st.Exporter = append(st.Exporter, seen.Reading{At: at(21.6), Value: 62, Where: where}, seen.Reading{At: at(22), Value: 700, Where: where})
		st.Made = append(st.Made, seen.Sample{Node: "gpu-02", GPU: fmt.Sprint(i), UUID: fmt.Sprintf("GPU-2%d", i), Namespace: ns, Pod: fmt.Sprintf("load-%d", i), Container: "load", Value: 700, At: at(25)})
	}
	st.Prometheus = append(st.Prometheus, seen.Reading{At: at(22.2), Value: 150}, seen.Reading{At: at(23), Value: 380})
	st.API = append(st.API, seen.Reading{At: at(22.4), Value: 150}, seen.Reading{At: at(23.2), Value: 380})
	high := 380.0
	st.Desired = append(st.Desired, seen.Desired{At: at(23.8), Current: 1, Desired: 2, Value: &high}, seen.Desired{At: at(23.9), Current: 2, Desired: 3, Value: &high})
	for _, n := range []string{"b", "c"} {
		p := pod(seen.RoleWorker, "worker-"+n, "node-"+n, 24, 25.5)
		st.Pods = append(st.Pods, p)
		ordered(st, p, "node-"+n, 24.5)
	}
	st.Made[0].At = at(25)
	st.At = at(26)
}

func addDown(st *seen.State) {
	st.Marks[seen.MarkStop] = at(30)
	low := 60.0
	for i := range st.Pods {
		switch p := &st.Pods[i]; {
		case p.Role == seen.RoleLoad:
			p.Life = ended(21.1, 31)
		case p.Name == "worker-b" || p.Name == "worker-c":
			p.Life = ended(24, 39)
		}
	}
	st.Prometheus = append(st.Prometheus, seen.Reading{At: at(31), Value: 350}, seen.Reading{At: at(35), Value: 60})
	st.API = append(st.API, seen.Reading{At: at(31.2), Value: 350}, seen.Reading{At: at(35.2), Value: 60})
	st.Desired = append(st.Desired, seen.Desired{At: at(38), Current: 1, Desired: 1, Value: &low})
	for i := range st.Nodes {
		if st.Nodes[i].Name != "node-a" {
			st.Nodes[i].Life = ended(24.8, 55)
			st.Claims[i].Life = ended(24.5, 56)
		}
	}
	st.Made = st.Made[:1]
	st.At = at(57)
	st.Made[0].At = at(56)
}

func addGang(st *seen.State) {
	st.Marks[seen.MarkGang], st.Marks[seen.MarkGangZero] = at(60), at(80)
	for i := range 3 {
		p := pod(seen.RoleGang, fmt.Sprintf("gang-%d", i), fmt.Sprintf("node-g%d", i), 60.1, 65)
		ordered(st, p, p.Node, 62)
		p.BoundAt = at(64)
		st.Pods = append(st.Pods, p)
		short := pod(seen.RoleShort, fmt.Sprintf("short-%d", i), "", 80.1, 0)
		st.Pods = append(st.Pods, short)
	}
	st.Events = append(st.Events, seen.Event{
		About: ref("Pod", "short-2"), Type: "Warning", Reason: "FailedScheduling", From: "karpenter",
		Message: "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=firstlight-run)", First: at(82),
	})
	st.At = at(91)
}

func addClean(st *seen.State) {
	st.Marks[seen.MarkClean] = at(92)
	st.At = at(95)
}
