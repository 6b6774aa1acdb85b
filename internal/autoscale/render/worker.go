package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// Kept are the annotations that keep the first replicas and their nodes during scale-down.
func Kept() map[string]string {
	return map[string]string{
		"controller.kubernetes.io/pod-deletion-cost":     "1000",
		"karpenter.sh/do-not-disrupt":                    "true",
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
	}
}

// Deployment is the workload that the HPA scales: every replica needs a node of
// its own, except replicas that stay on existing nodes.
func Deployment(v Values) *appsv1.Deployment {
	labels := v.labels(snapshot.RoleWorker)
	tolerations := v.tolerations()
	if v.Stay {
		tolerations = v.siteTolerations()
	}
	pod := v.pod(Worker, v.WorkerImage, v.GPUs, tolerations)
	pod.NodeSelector, pod.Affinity = v.Select, apart(labels)
	if v.Stay {
		pod.NodeSelector, pod.Affinity = nil, onNodes(v.Nodes)
	}
	template := v.scheduled(labels, &pod)
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: Worker, Namespace: v.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(int32(v.Min)), //nolint:gosec // validated by the site, small
			RevisionHistoryLimit: new(int32(0)),
			Selector:             &metav1.LabelSelector{MatchLabels: labels},
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: template}, Spec: pod},
		},
	}
}

// apart keeps pods with labels on nodes of their own.
func apart(labels map[string]string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{MatchLabels: labels}, TopologyKey: corev1.LabelHostname,
	}}}}
}

// Zero is the pod that fits only the NodePool with limit 0.
func Zero(v Values) *corev1.Pod {
	pod := v.pod(ZeroPod, v.WorkerImage, v.GPUs, v.tolerations())
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.NodeSelector = map[string]string{PoolLabel: v.Zero}
	labels := v.scheduled(v.labels(snapshot.RoleZero), &pod)
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: ZeroPod, Namespace: v.Namespace, Labels: labels},
		Spec:       pod,
	}
}
