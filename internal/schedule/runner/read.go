package runner

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func readNode(n *corev1.Node) node {
	out := node{name: n.Name, version: n.ResourceVersion, labels: n.Labels, taints: n.Spec.Taints, allocatable: n.Status.Allocatable}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.ready = c.Status == corev1.ConditionTrue
		}
	}
	return out
}

func readPod(p *corev1.Pod) pod {
	out := pod{
		key: p.Labels[labelWorkload], namespace: p.Namespace, name: p.Name, uid: p.UID, node: p.Spec.NodeName,
		phase: p.Status.Phase, deleting: p.DeletionTimestamp != nil, scheduler: p.Spec.SchedulerName,
	}
	for _, c := range p.Status.Conditions {
		switch c.Type {
		case corev1.PodScheduled:
			if c.Status != corev1.ConditionTrue && p.Spec.NodeName == "" {
				out.rejected, out.reason, out.message = c.Reason == corev1.PodReasonUnschedulable, c.Reason, c.Message
			}
		default:
		}
	}
	return out
}

func readReplicaSet(s *appsv1.ReplicaSet) workloadStatus {
	out := workloadStatus{
		generation: s.Generation, observed: s.Status.ObservedGeneration,
		desired: replicas(s.Spec.Replicas), current: s.Status.Replicas,
	}
	for _, c := range s.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			out.problem = c.Message
		}
	}
	return out
}

func readStatefulSet(s *appsv1.StatefulSet) workloadStatus {
	return workloadStatus{
		generation: s.Generation, observed: s.Status.ObservedGeneration,
		desired: replicas(s.Spec.Replicas), current: s.Status.Replicas,
	}
}

func readDaemonSet(d *appsv1.DaemonSet) workloadStatus {
	return workloadStatus{
		generation: d.Generation, observed: d.Status.ObservedGeneration,
		desired: d.Status.DesiredNumberScheduled, current: d.Status.CurrentNumberScheduled,
	}
}

// readJob takes a Job as observed once it has a start time: Jobs have no observed
// generation.
func readJob(j *batchv1.Job) workloadStatus {
	out := workloadStatus{generation: j.Generation, desired: replicas(j.Spec.Parallelism), current: j.Status.Active + j.Status.Succeeded}
	if j.Status.StartTime != nil {
		out.observed = j.Generation
	}
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			out.problem = c.Reason + ": " + c.Message
		}
	}
	return out
}

func readPodGroup(g *schedulingv1alpha2.PodGroup) gang {
	out := gang{key: g.Labels[labelWorkload], name: g.Name, scheduled: string(metav1.ConditionUnknown)}
	for _, c := range g.Status.Conditions {
		if c.Type == schedulingv1alpha2.PodGroupScheduled {
			out.scheduled, out.reason, out.message = string(c.Status), c.Reason, c.Message
		}
	}
	return out
}

// replicas defaults to 1, as in the API.
func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
