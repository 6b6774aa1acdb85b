package render

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// Members of a gang: its group objects, created first, and its Job or, without one, its
// pods.
type Members struct {
	Groups []*unstructured.Unstructured
	Job    *batchv1.Job
	Pods   []*corev1.Pod
}

// Gang is the gang for the run's pool.
func Gang(v Values, scheduler workload.Scheduler) Members {
	return gang(v, scheduler, GangJob, snapshot.RoleGang, v.Select)
}

// ShortGang is the same gang for the pool that is a node short.
func ShortGang(v Values, scheduler workload.Scheduler) Members {
	return gang(v, scheduler, ShortJob, snapshot.RoleShort, map[string]string{PoolLabel: v.Short})
}

func gang(v Values, scheduler workload.Scheduler, name, role string, nodes map[string]string) Members {
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
	m := Members{Groups: scheduler.Decorate(workload.Group{
		Namespace: v.Namespace, Labels: labels, MinCount: v.Gang, Priority: kube.PriorityClassOf(v.Run), Spec: workload.Spec{Name: name},
	}, job), Job: job}
	if _, kai := scheduler.(workload.KAI); kai {
		// Its pod grouper (at least up to 0.12) creates a group for each pod of a Job; pods
		// without an owner keep their group.
		m.Job, m.Pods = nil, podsOf(job, v.Gang)
	}
	return m
}

// podsOf lists the pods that a Job would create.
func podsOf(job *batchv1.Job, count int) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range count {
		template := job.Spec.Template.DeepCopy()
		template.Name, template.Namespace = fmt.Sprintf("%s-%d", job.Name, i), job.Namespace
		out = append(out, &corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: template.ObjectMeta, Spec: template.Spec,
		})
	}
	return out
}
