package runner

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

func (l *layout) namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{LabelScenario: l.id}}}
}

// node is ready from the start: the start of a kubelet is not tested.
func (l *layout) node(n scenario.Node) *corev1.Node {
	name := prefixed(l.id, n.Name)
	labels := map[string]string{corev1.LabelHostname: name, LabelScenario: l.id, labelRound: strconv.Itoa(0)}
	for k, v := range n.Labels {
		if k != corev1.LabelHostname {
			labels[k] = v
		}
	}
	if n.Control == "" {
		labels[labelOwn] = l.id
	}
	capacity := n.Capacity
	if capacity == nil {
		capacity = n.Allocatable
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: maps.Clone(capacity), Allocatable: maps.Clone(n.Allocatable),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
		},
	}
}

func (l *layout) meta(w *workload) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: w.spec.Name, Namespace: w.namespace, Labels: l.labels(w)}
}

func (w *workload) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{labelWorkload: w.key}}
}

// replicaSet stands for a new Deployment: the Deployment controller would only create it,
// at the cost of a fifth of all requests.
func (l *layout) replicaSet(w *workload) *appsv1.ReplicaSet {
	template := l.template(w)
	template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = w.key
	return &appsv1.ReplicaSet{ObjectMeta: l.meta(w), Spec: appsv1.ReplicaSetSpec{
		Replicas: new(w.spec.Replicas), Selector: w.selector(), Template: template,
	}}
}

// statefulSet creates all pods at once: an unschedulable pod must not hide the next one.
func (l *layout) statefulSet(w *workload) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: l.meta(w), Spec: appsv1.StatefulSetSpec{
		Replicas: new(w.spec.Replicas), Selector: w.selector(), Template: l.template(w),
		ServiceName: w.spec.Name, PodManagementPolicy: appsv1.ParallelPodManagement,
	}}
}

func (l *layout) daemonSet(w *workload) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: l.meta(w), Spec: appsv1.DaemonSetSpec{
		Selector: w.selector(), Template: l.template(w),
		// Nothing is ever rolled out.
		UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType},
	}}
}

func (l *layout) job(w *workload) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: l.meta(w), Spec: batchv1.JobSpec{
		Parallelism: new(w.spec.Replicas), Completions: new(w.spec.Replicas), Template: l.template(w),
	}}
}

// podGroup binds all pods of the workload or none.
func (l *layout) podGroup(w *workload) *schedulingv1alpha2.PodGroup {
	return &schedulingv1alpha2.PodGroup{ObjectMeta: l.meta(w), Spec: schedulingv1alpha2.PodGroupSpec{
		SchedulingPolicy: schedulingv1alpha2.PodGroupSchedulingPolicy{
			Gang: &schedulingv1alpha2.GangSchedulingPolicy{MinCount: w.spec.Replicas},
		},
	}}
}
