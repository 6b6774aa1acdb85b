package render

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// Gang is the gang for the run's pool: its group objects, to be created first,
// and its Job.
func Gang(v Values, scheduler workload.Scheduler) ([]*unstructured.Unstructured, *batchv1.Job) {
	return gang(v, scheduler, GangJob, seen.RoleGang, v.Select)
}

// ShortGang is the same gang for the pool that is a node short.
func ShortGang(v Values, scheduler workload.Scheduler) ([]*unstructured.Unstructured, *batchv1.Job) {
	return gang(v, scheduler, ShortJob, seen.RoleShort, map[string]string{PoolLabel: v.Short})
}

func gang(v Values, scheduler workload.Scheduler, name, role string, nodes map[string]string) ([]*unstructured.Unstructured, *batchv1.Job) {
	labels := v.labels(role)
	pod := v.pod(name, v.WorkerImage, v.GPUs, v.tolerations())
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.NodeSelector = nodes
	pod.Affinity = apart(labels)
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: v.Namespace, Labels: v.labels(role)},
		Spec: batchv1.JobSpec{
			Parallelism:    new(int32(v.Gang)), //nolint:gosec // validated by the site, small
			Completions:    new(int32(v.Gang)), //nolint:gosec // validated by the site, small
			CompletionMode: new(batchv1.IndexedCompletion),
			BackoffLimit:   new(int32(0)),
			Template:       corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: v.labels(role)}, Spec: pod},
		},
	}
	groups := scheduler.Decorate(workload.Group{
		Namespace: v.Namespace, Labels: labels, MinCount: v.Gang, Priority: kube.PriorityClassOf(v.Run), Spec: workload.Spec{Name: name},
	}, job)
	return groups, job
}
