// Package snapshottest is a healthy chain as it would be stored, for the tests of
// who judges, draws and prints one: a small lab on which a load of four GPUs
// brings two nodes. Tests change what they need to break.
package snapshottest

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Began is when the run did.
var Began = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)

// At is so many seconds after the run began.
func At(s float64) time.Time { return Began.Add(time.Duration(s * float64(time.Second))) }

// Life is that of an object that came at s and is still there.
func Life(s float64) snapshot.Life {
	return snapshot.Life{Created: At(s).Truncate(time.Second), First: At(s)}
}

// Ended is that of one that is gone.
func Ended(from, to float64) snapshot.Life {
	l := Life(from)
	l.Deleting, l.Deleted = At(to-0.5), At(to)
	return l
}

// Is is a condition that holds since s.
func Is(kind string, s float64) snapshot.Condition {
	return snapshot.Condition{Type: kind, Status: "True", Seen: At(s)}
}

// Not returns a condition with status False.
func Not(kind, status, reason, message string) snapshot.Condition {
	return snapshot.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// The names of the run's objects.
const (
	Namespace = "firstlight-run"
	Pool      = "firstlight-run"
	ZeroPool  = "firstlight-run-zero"
	ShortPool = "firstlight-run-short"
)

// Ref names an object, whose UID is "uid-" and its name.
func Ref(kind, name string) snapshot.Ref {
	r := snapshot.Ref{Kind: kind, Name: name, UID: "uid-" + name}
	if kind == "Pod" || kind == "HorizontalPodAutoscaler" || kind == "Deployment" {
		r.Namespace = Namespace
	}
	return r
}

// Setup is what the chain was asked to do.
func Setup() snapshot.Setup {
	s := snapshot.Setup{
		Run: "run", Namespace: Namespace, Began: Began,
		Metric: snapshot.Metric{
			API: "external", Name: "dcgm_gpu_power_usage", Series: "DCGM_FI_DEV_POWER_USAGE", Unit: "W", Form: "plain",
			Selector: map[string]string{"namespace": Namespace, "container": "load"}, Query: "avg(x)",
		},
		Scale: snapshot.Scale{Target: 200, Min: 1, Max: 3, GPUs: 1, LoadGPUs: 4},
		Pool:  snapshot.PoolPlan{Autoscaler: "karpenter", Name: Pool, Own: true, Zero: ZeroPool, GPULimit: 8, InstanceTypes: []string{"g5.xlarge"}},
		Gang:  3, Window: metav1.Duration{Duration: 10 * time.Second}, Scheduler: "default",
		GPUs: map[string]int{"gpu-01": 8, "gpu-02": 8},
	}
	for _, n := range []string{"system-01", "gpu-01", "gpu-02"} {
		s.Before = append(s.Before, Ref("Node", n))
	}
	s.Settings = []snapshot.Setting{
		{Name: snapshot.SettingSample, Value: metav1.Duration{Duration: time.Second}, Source: "DaemonSet gpu-operator/nvidia-dcgm-exporter"},
		{Name: snapshot.SettingScrape, Value: metav1.Duration{Duration: time.Second}, Source: "Prometheus /api/v1/status/config"},
		{Name: snapshot.SettingWindow, Value: metav1.Duration{Duration: 5 * time.Second}, Source: "Deployment monitoring/prometheus-adapter"},
		{Name: snapshot.SettingRelist, Value: metav1.Duration{Duration: 2 * time.Second}, Source: "Deployment monitoring/prometheus-adapter"},
		{Name: snapshot.SettingHPASync, Value: metav1.Duration{Duration: time.Second}, Source: "pod kube-system/kube-controller-manager-system-01"},
		{Name: snapshot.SettingStabilization, Value: metav1.Duration{Duration: 2 * time.Second}, Source: "the HPA of the run"},
		{Name: snapshot.SettingBatchIdle, Value: metav1.Duration{Duration: 200 * time.Millisecond}, Source: "Deployment kube-system/karpenter"},
		{Name: snapshot.SettingBatchMax, Value: metav1.Duration{Duration: time.Second}, Source: "Deployment kube-system/karpenter"},
		{Name: snapshot.SettingRegistration, Value: metav1.Duration{Duration: 0}, Source: "KWOKNodeClass gpu"},
		{Name: snapshot.SettingConsolidate, Value: metav1.Duration{Duration: time.Second}, Source: "NodePool firstlight-run"},
		{Name: snapshot.SettingDisruption, Value: metav1.Duration{Duration: 10 * time.Second}, Source: "Karpenter v1", Assumed: true},
		{Name: snapshot.SettingValidation, Value: metav1.Duration{Duration: 15 * time.Second}, Source: "Karpenter v1", Assumed: true},
	}
	return s
}

// Until is a healthy state at the end of a phase, with all that came before it.
func Until(phase string) snapshot.State {
	st := snapshot.State{Marks: map[string]time.Time{}}
	for _, p := range []struct {
		name string
		add  func(*snapshot.State)
	}{
		{snapshot.PhaseBefore, addBefore}, {snapshot.PhaseControl, addControl}, {snapshot.PhaseUp, addUp},
		{snapshot.PhaseDown, addDown}, {snapshot.PhaseGang, addGang}, {snapshot.PhaseClean, addClean},
	} {
		p.add(&st)
		if p.name == phase {
			break
		}
	}
	return st
}

func addBefore(st *snapshot.State) {
	st.At = At(5)
	st.Sources = []string{
		snapshot.ProblemAPIServices, snapshot.ProblemEvents, snapshot.ProblemExporter, snapshot.ProblemHPA, snapshot.ProblemMetricsAPI, snapshot.ProblemClaims,
		snapshot.ProblemPools, snapshot.ProblemNodes, snapshot.ProblemPods, snapshot.ProblemPrograms, snapshot.ProblemPrometheus,
	}
	up := true
	st.APIs = []snapshot.APIService{{Ref: snapshot.Ref{Kind: "APIService", Name: "v1beta1.external.metrics.k8s.io", UID: "a"}, Service: "monitoring/prometheus-adapter", Conditions: []snapshot.Condition{Is("Available", 1)}}}
	st.Programs = []snapshot.Program{
		{Ref: snapshot.Ref{Kind: "Deployment", Namespace: "monitoring", Name: "prometheus-adapter", UID: "d1"}, Role: "adapter", Desired: 1, Ready: 1},
		{Ref: snapshot.Ref{Kind: "Deployment", Namespace: "kube-system", Name: "karpenter", UID: "d2"}, Role: "autoscaler", Desired: 1, Ready: 1},
	}
	pool := snapshot.Pool{
		Ref: Ref("NodePool", Pool), Life: Life(1), GPULimit: 8, ConsolidateAfter: "1s", Policy: "WhenEmptyOrUnderutilized", Budgets: []string{"100%"},
		Taints: []string{"nvidia.com/gpu=present:NoSchedule"}, Requirements: []string{"node.kubernetes.io/instance-type In [g5.xlarge]"}, Conditions: []snapshot.Condition{Is("Ready", 2)},
	}
	none := pool
	none.Ref, none.GPULimit = Ref("NodePool", ZeroPool), 0
	st.Pools = []snapshot.Pool{pool, none}
	for _, n := range []string{"gpu-01", "gpu-02"} {
		st.Coverage = append(st.Coverage, snapshot.Coverage{Node: n, Expected: 8, Fresh: 8, Up: &up, Labels: []string{"Hostname", "container", "gpu", "namespace", "pod"}})
	}
	st.Listed = []string{"dcgm_gpu_power_usage"}
}

// Pod returns a pod of the run; without a node it is Pending.
func Pod(role, name, node string, came, ready float64) snapshot.Pod {
	p := snapshot.Pod{
		Ref: Ref("Pod", name), Life: Life(came), Role: role, Phase: "Running", Node: node, BoundAt: At(ready - 0.2), ReadyAt: At(ready), GPUs: 1,
		Scheduler: "default-scheduler", Selector: map[string]string{"karpenter.sh/nodepool": Pool}, Tolerates: []string{"nvidia.com/gpu=present:NoSchedule"},
	}
	if node == "" {
		p.Phase, p.BoundAt, p.ReadyAt = "Pending", time.Time{}, time.Time{}
	}
	return p
}

// Ordered adds a claim with its node, made for a pod.
func Ordered(st *snapshot.State, p snapshot.Pod, name string, came float64) {
	id := "kwok://" + name
	st.Claims = append(st.Claims, snapshot.Claim{
		Ref: Ref("NodeClaim", "claim-"+name), Life: Life(came), Pool: Pool, Ours: true, InstanceType: "g5.xlarge", Node: name, ProviderID: id, GPUs: 1,
		Conditions: []snapshot.Condition{Is("Launched", came), Is("Registered", came+0.4), Is("Initialized", came+0.6), Is("Consolidatable", came+2)},
	})
	st.Nodes = append(st.Nodes, snapshot.Node{
		Ref: Ref("Node", name), Life: Life(came + 0.3), Pool: Pool, Ours: true, InstanceType: "g5.xlarge", ProviderID: id, GPUs: 1,
		Conditions: []snapshot.Condition{Is("Ready", came+0.5)},
	})
	st.Events = append(st.Events,
		snapshot.Event{About: p.Ref, Type: "Warning", Reason: "FailedScheduling", From: "default-scheduler", Message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: not helpful.", First: At(came - 0.4)},
		snapshot.Event{About: p.Ref, Type: "Normal", Reason: "Nominated", From: "karpenter", Message: "Pod should schedule on: nodeclaim/claim-" + name, First: At(came)},
	)
}

func addControl(st *snapshot.State) {
	st.Marks[snapshot.MarkPlaced] = At(6)
	worker := Pod(snapshot.RoleWorker, "worker-a", "node-a", 6.1, 9)
	Ordered(st, worker, "node-a", 7)
	holder := Pod(snapshot.RoleHolder, "holder", "gpu-01", 6.1, 8)
	st.Pods = append(st.Pods, worker, holder, Pod(snapshot.RoleZero, "zero", "", 10.1, 0))
	st.HPA = &snapshot.HPA{Ref: Ref("HorizontalPodAutoscaler", "worker"), Life: Life(6), Min: 1, Max: 3, Target: 200, Conditions: []snapshot.Condition{Is("AbleToScale", 7), Is("ScalingActive", 8)}}
	idle := 60.0
	st.Desired = []snapshot.Desired{{At: At(8.5), Current: 1, Desired: 1, Value: &idle}}
	st.Marks[snapshot.MarkWindow], st.Marks[snapshot.MarkWindowTo] = At(10), At(20)
	for s := 8.0; s <= 20; s++ {
		st.Exporter = append(st.Exporter, snapshot.Reading{At: At(s), Value: 60, Where: "gpu-02/gpu0"})
		st.Prometheus = append(st.Prometheus, snapshot.Reading{At: At(s + 0.1), Value: 60})
		st.API = append(st.API, snapshot.Reading{At: At(s + 0.2), Value: 60})
	}
	st.Made = []snapshot.Sample{{Node: "gpu-01", GPU: "0", UUID: "GPU-1", Namespace: Namespace, Pod: "holder", Container: "load", Value: 60, At: At(20)}}
	st.Events = append(st.Events, snapshot.Event{
		About: Ref("Pod", "zero"), Type: "Warning", Reason: "FailedScheduling", From: "karpenter",
		Message: "Failed to schedule pod, incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [firstlight-run-zero] not in karpenter.sh/nodepool In [firstlight-run]; all available instance types exceed limits for nodepool (NodePool=firstlight-run-zero)", First: At(11),
	})
	st.At = At(20.5)
}

func addUp(st *snapshot.State) {
	st.Marks[snapshot.MarkLoad] = At(21)
	for i := range 4 {
		st.Pods = append(st.Pods, Pod(snapshot.RoleLoad, fmt.Sprintf("load-%d", i), "gpu-02", 21.1, 21.5))
	}
	for i := range 4 {
		where := fmt.Sprintf("gpu-02/gpu%d", i)
		st.Exporter = append(st.Exporter, snapshot.Reading{At: At(21.6), Value: 62, Where: where}, snapshot.Reading{At: At(22), Value: 700, Where: where})
		st.Made = append(st.Made, snapshot.Sample{Node: "gpu-02", GPU: fmt.Sprint(i), UUID: fmt.Sprintf("GPU-2%d", i), Namespace: Namespace, Pod: fmt.Sprintf("load-%d", i), Container: "load", Value: 700, At: At(25)})
	}
	st.Prometheus = append(st.Prometheus, snapshot.Reading{At: At(22.2), Value: 150}, snapshot.Reading{At: At(23), Value: 380})
	st.API = append(st.API, snapshot.Reading{At: At(22.4), Value: 150}, snapshot.Reading{At: At(23.2), Value: 380})
	high := 380.0
	st.Desired = append(st.Desired, snapshot.Desired{At: At(23.8), Current: 1, Desired: 2, Value: &high}, snapshot.Desired{At: At(23.9), Current: 2, Desired: 3, Value: &high})
	for _, n := range []string{"b", "c"} {
		p := Pod(snapshot.RoleWorker, "worker-"+n, "node-"+n, 24, 25.5)
		st.Pods = append(st.Pods, p)
		Ordered(st, p, "node-"+n, 24.5)
	}
	st.Made[0].At = At(25)
	st.At = At(26)
}

func addDown(st *snapshot.State) {
	st.Marks[snapshot.MarkStop] = At(30)
	low := 60.0
	for i := range st.Pods {
		switch p := &st.Pods[i]; {
		case p.Role == snapshot.RoleLoad:
			p.Life = Ended(21.1, 31)
		case p.Name == "worker-b" || p.Name == "worker-c":
			p.Life = Ended(24, 39)
		}
	}
	st.Prometheus = append(st.Prometheus, snapshot.Reading{At: At(31), Value: 350}, snapshot.Reading{At: At(35), Value: 60})
	st.API = append(st.API, snapshot.Reading{At: At(31.2), Value: 350}, snapshot.Reading{At: At(35.2), Value: 60})
	st.Desired = append(st.Desired, snapshot.Desired{At: At(38), Current: 1, Desired: 1, Value: &low})
	for i := range st.Nodes {
		if st.Nodes[i].Name != "node-a" {
			st.Nodes[i].Life = Ended(24.8, 55)
			st.Claims[i].Life = Ended(24.5, 56)
		}
	}
	st.Made = st.Made[:1]
	st.At = At(57)
	st.Made[0].At = At(56)
}

func addGang(st *snapshot.State) {
	st.Marks[snapshot.MarkGang], st.Marks[snapshot.MarkGangZero] = At(60), At(80)
	for i := range 2 {
		short := Pod(snapshot.RoleShort, fmt.Sprintf("short-%d", i), "", 80.1, 0)
		Ordered(st, short, fmt.Sprintf("node-s%d", i), 80.3)
		st.Claims[len(st.Claims)-1].Pool, st.Nodes[len(st.Nodes)-1].Pool = ShortPool, ShortPool
	}
	for i := range 3 {
		p := Pod(snapshot.RoleGang, fmt.Sprintf("gang-%d", i), fmt.Sprintf("node-g%d", i), 60.1, 65)
		Ordered(st, p, p.Node, 62)
		p.BoundAt = At(64)
		st.Pods = append(st.Pods, p)
		short := Pod(snapshot.RoleShort, fmt.Sprintf("short-%d", i), "", 80.1, 0)
		short.Selector = map[string]string{"karpenter.sh/nodepool": ShortPool}
		st.Pods = append(st.Pods, short)
	}
	st.Events = append(st.Events, snapshot.Event{
		About: Ref("Pod", "short-2"), Type: "Warning", Reason: "FailedScheduling", From: "karpenter",
		Message: "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=firstlight-run-short)", First: At(82),
	})
	st.At = At(91)
}

func addClean(st *snapshot.State) {
	st.Marks[snapshot.MarkClean] = At(92)
	st.Sources = append(st.Sources, snapshot.ProblemLeft)
	st.At = At(95)
}

// Observations are the whole chain as it is stored, with the state of each hop
// as change leaves it; change may be nil.
func Observations(setup snapshot.Setup, change func(hop string, st *snapshot.State)) ([]check.Observation, error) {
	out := []check.Observation{{ID: "0001-autoscale-setup", Check: "autoscale", Kind: snapshot.KindSetup, Target: "cluster", At: Began}}
	var err error
	if out[0], err = out[0].WithFigures(setup); err != nil {
		return nil, fmt.Errorf("store the setup: %w", err)
	}
	for _, phase := range snapshot.Chain() {
		for _, hop := range phase.Hops {
			st := Until(phase.Name)
			if change != nil {
				change(hop, &st)
			}
			o := check.Observation{ID: fmt.Sprintf("%04d-autoscale-hop-%s", len(out)+1, hop), Check: "autoscale", Kind: snapshot.KindHop, Target: hop, At: st.At}
			if o, err = o.WithFigures(st); err != nil {
				return nil, fmt.Errorf("store hop %s: %w", hop, err)
			}
			out = append(out, o)
		}
	}
	return out, nil
}
