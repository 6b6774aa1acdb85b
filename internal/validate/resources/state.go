package resources

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func (s *state) meta(m *metav1.ObjectMeta, observed int64) {
	s.Found, s.Deleted = true, m.DeletionTimestamp != nil
	s.Generation, s.Observed = m.Generation, observed
}

func (s *state) deployment(d *appsv1.Deployment) {
	s.meta(&d.ObjectMeta, d.Status.ObservedGeneration)
	s.Desired = ptr.Deref(d.Spec.Replicas, 1)
	s.Present, s.Updated, s.Ready, s.Available = d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas
	for _, c := range d.Status.Conditions {
		good := corev1.ConditionTrue
		if c.Type == appsv1.DeploymentReplicaFailure {
			good = corev1.ConditionFalse
		}
		if c.Status != good {
			s.condition(string(c.Type), c.Status, c.Reason, c.Message)
		}
	}
}

func (s *state) daemonSet(d *appsv1.DaemonSet) {
	s.meta(&d.ObjectMeta, d.Status.ObservedGeneration)
	s.Desired, s.Present = d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled
	s.Updated, s.Ready, s.Available = d.Status.UpdatedNumberScheduled, d.Status.NumberReady, d.Status.NumberAvailable
	s.OnDelete = d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
}

func (s *state) statefulSet(d *appsv1.StatefulSet) {
	s.meta(&d.ObjectMeta, d.Status.ObservedGeneration)
	s.Desired = ptr.Deref(d.Spec.Replicas, 1)
	s.Present, s.Updated, s.Ready, s.Available = d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas
	rolling := d.Spec.UpdateStrategy.RollingUpdate
	s.OnDelete = d.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType ||
		rolling != nil && ptr.Deref(rolling.Partition, 0) > 0 // those below the partition are kept
}

func (s *state) jobOf(j *batchv1.Job) {
	s.meta(&j.ObjectMeta, 0)
	s.Desired, s.Present, s.Available = ptr.Deref(j.Spec.Completions, 1), j.Status.Active, j.Status.Succeeded
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			s.Complete = true
		case batchv1.JobFailed:
			s.Failed = true
			s.condition(string(c.Type), c.Status, c.Reason, c.Message)
		case batchv1.JobSuspended:
			s.condition(string(c.Type), c.Status, c.Reason, c.Message)
		default: // on the way to one of those
		}
	}
}

func (s *state) condition(kind string, status corev1.ConditionStatus, reason, message string) {
	s.Conditions = append(s.Conditions, fmt.Sprintf("%s is %s: %s: %s", kind, status, reason, message))
}
