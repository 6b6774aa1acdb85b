package render

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// HolderJob holds one GPU of the inventory and leaves it idle: the metric is
// defined and flat before and after the load.
func HolderJob(v Values) *batchv1.Job {
	return v.onSite(Holder, snapshot.RoleHolder, 1, v.pod(container, v.WorkerImage, 1, v.siteTolerations()))
}

// LoadJob loads GPUs of the inventory, one per pod, so that it fits free GPUs on any node.
func LoadJob(v Values) *batchv1.Job {
	pod := v.pod(container, v.LoadImage, 1, v.siteTolerations())
	c := &pod.Containers[0]
	c.Command = []string{"/bin/bash", "-ec", workload.GPULoadScript}
	c.Env = []corev1.EnvVar{{Name: "DURATION", Value: strconv.Itoa(int(v.LoadFor.Seconds()))}}
	return v.onSite(Load, snapshot.RoleLoad, v.LoadGPUs, pod)
}

// onSite is a Job of equal pods on nodes of the inventory.
func (v Values) onSite(name, role string, pods int, pod corev1.PodSpec) *batchv1.Job {
	labels := v.labels(role)
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.Affinity = onNodes(v.Nodes)
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: v.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			Parallelism:  new(int32(pods)), //nolint:gosec // validated by the site, small
			Completions:  new(int32(pods)), //nolint:gosec // validated by the site, small
			BackoffLimit: new(int32(0)),
			Template:     corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}
}

// onNodes keeps pods on these nodes.
func onNodes(nodes []string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: named(nodes)}}
}

// named selects nodes by their names, whatever their labels say.
func named(nodes []string) *corev1.NodeSelector {
	s := &corev1.NodeSelector{}
	for _, n := range nodes {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{n}}},
		})
	}
	return s
}

// siteTolerations are those for the inventory's own taints, whose values differ
// between installers.
func (v Values) siteTolerations() []corev1.Toleration {
	out := []corev1.Toleration{{Key: kube.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	if v.Tainted && v.Taint.Key != kube.GPUResource {
		out = append(out, corev1.Toleration{Key: v.Taint.Key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(v.Taint.Effect)})
	}
	return out
}
