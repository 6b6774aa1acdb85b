package track

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var begin = time.Unix(1_800_000_000, 0)

func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

// nowhere is a cluster that does not answer.
func nowhere(t *testing.T) *kube.Cluster {
	t.Helper()
	cluster := kubetest.Unreachable(t)
	return cluster
}

// Without an API server Start returns an error, and Stop ends every goroutine.
func TestStartWithoutAnAPI(t *testing.T) {
	t.Parallel()
	tr := New(Options{Cluster: nowhere(t), Run: "r", Namespace: "ns", Karpenter: true, Queues: true, Programs: []Program{{"adapter", "a", "b"}}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := tr.Start(ctx)
	tr.Stop()
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

func TestConditionsKeepWhenTheyWereSeen(t *testing.T) {
	t.Parallel()
	had := held(nil, []snapshot.Condition{{Type: "Ready", Status: "False"}, {Type: "Launched", Status: "True"}}, at(1))
	have := held(had, []snapshot.Condition{{Type: "Ready", Status: "True"}, {Type: "Launched", Status: "True", Message: "more"}}, at(2))
	want := []snapshot.Condition{{Type: "Ready", Status: "True", Seen: at(2)}, {Type: "Launched", Status: "True", Message: "more", Seen: at(1)}}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestReadPod(t *testing.T) {
	t.Parallel()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ns", UID: "u", Labels: map[string]string{kube.LabelRole: snapshot.RoleWorker, queueLabel: "q"}, CreationTimestamp: metav1.Time{Time: at(0)}},
		Spec: corev1.PodSpec{
			SchedulerName: "default-scheduler", NodeSelector: map[string]string{"a": "b"},
			Tolerations: []corev1.Toleration{
				{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule},
				{Key: "x", Operator: corev1.TolerationOpExists}, {Operator: corev1.TolerationOpExists},
			},
			Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kube.GPUResource: resource.MustParse("2")}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	var row snapshot.Pod
	readPod(&row, p, at(1))
	p.Spec.NodeName = "n"
	readPod(&row, p, at(2))
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	readPod(&row, p, at(3))
	p.DeletionTimestamp = &metav1.Time{Time: at(4)}
	readPod(&row, p, at(5))
	readPod(&row, p, at(6))
	want := snapshot.Pod{
		Ref:  snapshot.Ref{Kind: "Pod", Namespace: "ns", Name: "w", UID: "u"},
		Life: snapshot.Life{Created: at(0), First: at(1), Deleting: at(5)},
		Role: "worker", Phase: "Running", Node: "n", BoundAt: at(2), ReadyAt: at(3), GPUs: 2, Scheduler: "default-scheduler", Queue: "q",
		Selector: map[string]string{"a": "b"}, Tolerates: []string{"nvidia.com/gpu=present:NoSchedule", "x", "*"},
		Conditions: []snapshot.Condition{{Type: "Ready", Status: "True", Seen: at(3)}},
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}

func TestWhyPod(t *testing.T) {
	t.Parallel()
	with := func(s corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: s}}}}
	}
	for want, p := range map[string]*corev1.Pod{
		"c: ImagePullBackOff: no such image": with(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}),
		"c: Error":                           with(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}),
		"Evicted: low on disk":               {Status: corev1.PodStatus{Reason: "Evicted", Message: "low on disk"}},
		"":                                   with(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}),
	} {
		if got := whyPod(p); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReadPool(t *testing.T) {
	t.Parallel()
	var row snapshot.Pool
	readPool(&row, object(t, `
metadata: {name: p, uid: u}
spec:
  limits: {nvidia.com/gpu: 6}
  disruption: {consolidateAfter: 2s, consolidationPolicy: WhenEmpty, budgets: [{nodes: 10%}, {nodes: "0"}]}
  template:
    spec:
      nodeClassRef: {group: g, kind: EC2NodeClass, name: c}
      taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}, {key: x, effect: NoExecute}]
      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [a, b]}, {key: gpu, operator: Exists}]
status:
  resources: {nvidia.com/gpu: "3"}
  conditions: [{type: Ready, status: "True", reason: Ready, lastTransitionTime: "2027-01-15T08:00:00Z"}]
`), at(1))
	want := snapshot.Pool{
		Ref: snapshot.Ref{Kind: "NodePool", Name: "p", UID: "u"}, Life: snapshot.Life{First: at(1)}, GPULimit: 6, GPUs: 3,
		ConsolidateAfter: "2s", Policy: "WhenEmpty", Budgets: []string{"10%", "0"},
		Taints:       []string{"nvidia.com/gpu=present:NoSchedule", "x:NoExecute"},
		Requirements: []string{"node.kubernetes.io/instance-type In a, b", "gpu Exists"},
		NodeClass:    snapshot.Ref{Kind: "EC2NodeClass", Name: "c"},
		Conditions:   []snapshot.Condition{{Type: "Ready", Status: "True", Reason: "Ready", At: time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC), Seen: at(1)}},
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	var unlimited snapshot.Pool
	readPool(&unlimited, object(t, "{metadata: {name: p}, spec: {limits: {cpu: 5}}}"), at(1))
	if unlimited.GPULimit != -1 {
		t.Errorf("no limit is read as %d", unlimited.GPULimit)
	}
}

// A budget for other disruptions, or at other times, does not keep empty nodes: the second is that of
// https://learn.microsoft.com/azure/aks/node-autoprovision-disruption.
func TestReadBudgets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{nodes: "0"}`: "0",
		`{nodes: "0", schedule: "0 9 * * 1-5", duration: 8h}`:                  "0 from 0 9 * * 1-5 for 8h",
		`{nodes: "0", reasons: [Drifted, Underutilized]}`:                      "0 for Drifted, Underutilized",
		`{nodes: "0", reasons: [Empty, Drifted]}`:                              "0",
		`{nodes: "0%", schedule: "@daily", duration: 10m, reasons: [Drifted]}`: "0% for Drifted from @daily for 10m",
	} {
		var row snapshot.Pool
		readPool(&row, object(t, "{metadata: {name: p}, spec: {disruption: {budgets: ["+text+"]}}}"), at(1))
		if len(row.Budgets) != 1 || row.Budgets[0] != want {
			t.Errorf("%s: %q, want %q", text, row.Budgets, want)
		}
	}
}

func TestDesiredIsTheHistoryOfTheStatus(t *testing.T) {
	t.Parallel()
	tr := New(Options{})
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	say := func(second int, current, desired int32, average string) {
		h.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: current, DesiredReplicas: desired,
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue}},
		}
		if average != "" {
			h.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{External: &autoscalingv2.ExternalMetricStatus{
				Current: autoscalingv2.MetricValueStatus{AverageValue: new(resource.MustParse(average))},
			}}}
		}
		tr.putDesired(h, at(second))
	}
	tr.putDesired(h, at(0)) // an empty status
	say(1, 1, 1, "")
	say(2, 1, 1, "")
	say(3, 1, 3, "570")
	say(4, 3, 3, "190")
	say(5, 3, 3, "190")
	want := []snapshot.Desired{
		{At: at(1), Current: 1, Desired: 1}, {At: at(3), Current: 1, Desired: 3, Value: new(570.0)}, {At: at(4), Current: 3, Desired: 3, Value: new(570.0)},
	}
	if diff := cmp.Diff(want, tr.desired); diff != "" {
		t.Error(diff)
	}
}

func event(uid, kind, namespace, name, about, reason string) *eventsv1.Event {
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}, Reason: reason, Note: reason,
		Regarding: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name, UID: types.UID(about)},
	}
}

func TestEventsAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	tr := New(Options{Run: "r", Namespace: "ns", Pools: []string{"pool"}})
	tr.nodes.put("node-uid", func(n *snapshot.Node) { n.Ref, n.Ours = snapshot.Ref{Name: "n1", UID: "node-uid"}, true })
	tr.pools.put("pool-uid", func(p *snapshot.Pool) { p.Ref = snapshot.Ref{Name: "pool", UID: "pool-uid"} })
	for _, e := range []*eventsv1.Event{
		event("1", "Pod", "ns", "worker-x", "pod-uid", "Nominated"),
		event("2", "Pod", "ns", "theirs", "their-uid", "Failed"),
		event("3", "Pod", "other", "worker-x", "pod-uid", "Elsewhere"),
		event("4", "Node", "", "n1", "n1", "RegisteredNode"),
		event("5", "Node", "", "n1", "node-uid", "DisruptionTerminating"),
		event("6", "NodePool", "", "pool", "pool-uid", "NoCompatibleInstanceTypes"),
		event("7", "NodePool", "", "theirs", "x", "Failed"),
		event("8", "ReplicaSet", "ns", "worker-abc", "rs", "FailedCreate"),
		event("9", "Job", "ns", "theirs", "j", "Failed"),
	} {
		tr.putEvent(e, at(1))
	}
	// The pod is observed after its event.
	tr.pods.put("pod-uid", func(p *snapshot.Pod) { p.Ref = snapshot.Ref{Name: "worker-x", UID: "pod-uid"} })
	var got []string
	for _, e := range tr.eventsNow() {
		got = append(got, e.Reason+" "+e.About.UID)
	}
	want := []string{"DisruptionTerminating node-uid", "RegisteredNode node-uid", "NoCompatibleInstanceTypes pool-uid", "FailedCreate rs", "Nominated pod-uid"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// In a large cluster other nodes have more events than are kept.
func TestEventsOfOthersDoNotDisplaceThoseOfTheRun(t *testing.T) {
	t.Parallel()
	tr := New(Options{Run: "r", Namespace: "ns"})
	tr.before["initial"] = snapshot.Ref{Name: "initial", UID: "initial"}
	tr.pods.put("pod", func(p *snapshot.Pod) { p.Ref = snapshot.Ref{Name: "worker-x", UID: "pod"} })
	tr.putEvent(event("run", "Pod", "ns", "worker-x", "pod", "Nominated"), at(0))
	for i := range mostEvents {
		tr.putEvent(event("initial"+strconv.Itoa(i), "Node", "", "initial", "initial", "R"), at(i))
	}
	if n := len(tr.events.rows); n != 1 {
		t.Errorf("%d events are kept, want the one of the run", n)
	}
	for i := range 2 * mostEvents {
		tr.putEvent(event("new"+strconv.Itoa(i), "Node", "", "new", "new", "R"), at(i))
		if i == mostEvents/2 {
			tr.nodes.put("new", func(n *snapshot.Node) { n.Ref = snapshot.Ref{Name: "new", UID: "new"} })
		}
	}
	if events := tr.eventsNow(); len(events) != 1 || events[0].Reason != "Nominated" {
		t.Errorf("events: %+v", events)
	}
	for i := range 2 * mostEvents {
		tr.putEvent(event("unknown"+strconv.Itoa(i), "Node", "", "unknown", "u", "R"), at(i+1))
	}
	if events := tr.eventsNow(); len(events) != 1 || len(tr.events.rows) > mostEvents {
		t.Errorf("events: %+v of %d", events, len(tr.events.rows))
	}
}

func TestEventsAndRowsAreBounded(t *testing.T) {
	t.Parallel()
	tr := New(Options{})
	for i := range 2 * mostEvents {
		tr.putEvent(event(strconv.Itoa(i), "Node", "", "n", "u", "R"), at(i))
	}
	b := tr.events
	if len(b.rows) > mostEvents {
		t.Errorf("%d events are kept", len(b.rows))
	}
	if _, ok := b.rows[types.UID(strconv.Itoa(2*mostEvents-1))]; !ok {
		t.Error("the newest event was forgotten")
	}
	for i := range mostRows + 10 {
		uid := types.UID(strconv.Itoa(i))
		tr.nodes.put(uid, func(n *snapshot.Node) { n.First = at(i) })
		if i%2 == 0 {
			tr.nodes.gone(uid, at(i))
		}
	}
	if len(tr.nodes.rows) > mostRows {
		t.Errorf("%d nodes are kept", len(tr.nodes.rows))
	}
	if tr.nodes.rows["1"] == nil || tr.nodes.rows["0"] != nil {
		t.Error("existing nodes must be kept longer than deleted nodes")
	}
}

func TestDeletedNodesOfOthersAreForgottenBeforeThoseOfTheRun(t *testing.T) {
	t.Parallel()
	tr := New(Options{})
	for i := range mostRows + 10 {
		uid := types.UID(strconv.Itoa(i))
		tr.nodes.put(uid, func(n *snapshot.Node) { n.Ours = i == 0 })
		tr.nodes.gone(uid, at(i))
	}
	if tr.nodes.rows["0"] == nil || len(tr.nodes.rows) > mostRows {
		t.Errorf("the run's node is kept: %t, of %d", tr.nodes.rows["0"] != nil, len(tr.nodes.rows))
	}
}

// Nodes of before stay a name; one that goes is missing, also when another of its
// name comes.
func TestNodesOfBefore(t *testing.T) {
	t.Parallel()
	tr := New(Options{Cluster: nowhere(t)})
	s := tr.nodeSource(t.Context())
	node := func(name, uid string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Labels: map[string]string{"karpenter.sh/nodepool": "theirs"}}}
	}
	s.put(node("a", "1"), at(1))
	s.put(node("b", "2"), at(1))
	tr.settled = true
	s.gone(node("a", "1"), at(2))
	s.put(node("a", "3"), at(3))
	s.put(node("b", "2"), at(3))
	before, pools := tr.Before()
	if len(before) != 2 || pools["b"] != "theirs" {
		t.Errorf("before: %v %v", before, pools)
	}
	st := tr.State()
	if len(st.Missing) != 1 || st.Missing[0].UID != "1" {
		t.Errorf("missing: %v", st.Missing)
	}
	if len(st.Nodes) != 1 || st.Nodes[0].UID != "3" || st.Nodes[0].First != at(3) || st.Nodes[0].Ours {
		t.Errorf("came: %+v", st.Nodes)
	}
}

// Other lists may take a minute: a node that is deleted meanwhile did not exist when the run began.
func TestANodeThatIsDeletedBeforeTheRunBegins(t *testing.T) {
	t.Parallel()
	tr := New(Options{Cluster: nowhere(t)})
	s := tr.nodeSource(t.Context())
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	s.put(n, at(1))
	s.gone(n, at(2))
	tr.settled = true
	if before, _ := tr.Before(); len(before) != 0 || len(tr.State().Missing) != 0 {
		t.Errorf("before: %v, missing: %v", before, tr.State().Missing)
	}
}

func TestNodeGroups(t *testing.T) {
	t.Parallel()
	tr := New(Options{Group: map[string]string{"pool": "gpu", "topology.kubernetes.io/zone": "a"}, GroupName: "gpu/a"})
	for name, tt := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"of the group":                   {map[string]string{"pool": "gpu", "topology.kubernetes.io/zone": "a"}, "gpu/a"},
		"of another group":               {map[string]string{"pool": "cpu", "topology.kubernetes.io/zone": "a"}, "cpu"},
		"of another group, another zone": {map[string]string{"pool": "cpu", "topology.kubernetes.io/zone": "b"}, "cpu"},
		// A zone or an instance type does not name a group: a node that differs only in it may have no group.
		"in another zone": {map[string]string{"pool": "gpu", "topology.kubernetes.io/zone": "b"}, ""},
		"of no group":     {map[string]string{"topology.kubernetes.io/zone": "a"}, ""},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tt.labels}}
		if got := tr.poolOf(n); got != tt.want || tr.ofPools(got) != (tt.want == "gpu/a") {
			t.Errorf("%s: pool %q, want %q; of the run %t", name, got, tt.want, tr.ofPools(got))
		}
	}
}
