package runner

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func lookAtNode(n *corev1.Node) node {
	out := node{name: n.Name, version: n.ResourceVersion, labels: n.Labels, taints: n.Spec.Taints, allocatable: n.Status.Allocatable}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.ready = c.Status == corev1.ConditionTrue
		}
	}
	return out
}

func lookAtPod(p *corev1.Pod) pod {
	out := pod{
		of: p.Labels[labelOf], namespace: p.Namespace, name: p.Name, uid: p.UID, node: p.Spec.NodeName,
		phase: p.Status.Phase, deleting: p.DeletionTimestamp != nil, scheduler: p.Spec.SchedulerName,
	}
	for _, c := range p.Status.Conditions {
		switch c.Type {
		case corev1.PodScheduled:
			if c.Status != corev1.ConditionTrue && p.Spec.NodeName == "" {
				out.refused, out.reason, out.message = c.Reason == corev1.PodReasonUnschedulable, c.Reason, c.Message
			}
		default:
		}
	}
	return out
}

func lookAtReplicaSet(s *appsv1.ReplicaSet) workload {
	out := workload{
		generation: s.Generation, observed: s.Status.ObservedGeneration,
		desired: replicas(s.Spec.Replicas), current: s.Status.Replicas,
	}
	for _, c := range s.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			out.trouble = c.Message
		}
	}
	return out
}

func lookAtStatefulSet(s *appsv1.StatefulSet) workload {
	return workload{
		generation: s.Generation, observed: s.Status.ObservedGeneration,
		desired: replicas(s.Spec.Replicas), current: s.Status.Replicas,
	}
}

func lookAtDaemonSet(d *appsv1.DaemonSet) workload {
	return workload{
		generation: d.Generation, observed: d.Status.ObservedGeneration,
		desired: d.Status.DesiredNumberScheduled, current: d.Status.CurrentNumberScheduled,
	}
}

// lookAtJob takes a Job as observed when its controller has begun with it: it keeps
// no account of generations.
func lookAtJob(j *batchv1.Job) workload {
	out := workload{generation: j.Generation, desired: replicas(j.Spec.Parallelism), current: j.Status.Active + j.Status.Succeeded}
	if j.Status.StartTime != nil {
		out.observed = j.Generation
	}
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			out.trouble = c.Reason + ": " + c.Message
		}
	}
	return out
}

func lookAtPodGroup(g *schedulingv1alpha2.PodGroup) gang {
	out := gang{of: g.Labels[labelOf], name: g.Name, scheduled: string(metav1.ConditionUnknown)}
	for _, c := range g.Status.Conditions {
		if c.Type == schedulingv1alpha2.PodGroupScheduled {
			out.scheduled, out.reason, out.message = string(c.Status), c.Reason, c.Message
		}
	}
	return out
}

// replicas are one where nothing is said, as the API has it.
func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
