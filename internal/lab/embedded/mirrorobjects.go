package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
)

const (
	labelProcess = component.LabelProcess
	// hold keeps a running pod from being Ready; see kwok's stages.
	hold = "firstlight.dev/world-hold"
	// systemType is the instance type of nodes without GPUs.
	systemType = "system"
)

// shown describes the Deployment of a component in its chart.
type shown struct {
	component, namespace, name, image string
	// labels as in the chart.
	labels map[string]string
}

func deployments() []shown {
	app := func(name string) map[string]string {
		return map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name}
	}
	return []shown{
		{component.Adapter, "monitoring", "prometheus-adapter", "registry.k8s.io/prometheus-adapter/prometheus-adapter:v0.12.0", app("prometheus-adapter")},
		{component.Karpenter, "kube-system", "karpenter", "registry.k8s.io/karpenter/kwok:v1.14.1", app("karpenter")},
		{component.KAIScheduler, "kai-scheduler", "kai-scheduler-default", "ghcr.io/nvidia/kai-scheduler/scheduler:v0.12.0", map[string]string{"app": "kai-scheduler-default"}},
		{component.KAIBinder, "kai-scheduler", "binder", "ghcr.io/nvidia/kai-scheduler/binder:v0.12.0", map[string]string{"app": "binder"}},
		{component.KAIPodGrouper, "kai-scheduler", "pod-grouper", "ghcr.io/nvidia/kai-scheduler/podgrouper:v0.12.0", map[string]string{"app": "pod-grouper"}},
	}
}

// configOf returns the file of --config as a mounted ConfigMap, or nil, and its content.
func (s shown) configOf(r lab.Running, read func(path string) (string, error)) (config *corev1.ConfigMap, path string, err error) {
	for _, a := range r.Args {
		if p, ok := strings.CutPrefix(a, "--config="); ok {
			path = p
		}
	}
	if path == "" {
		return nil, "", nil
	}
	text, err := read(path)
	if err != nil {
		return nil, "", err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.namespace, Labels: s.own()},
		Data:       map[string]string{filepath.Base(path): text},
	}, path, nil
}

// own labels all objects of a process.
func (s shown) own() map[string]string {
	l := maps.Clone(s.labels)
	l[labelProcess] = s.component
	return l
}

// deployment represents a process with its arguments and environment. Its pod is held until the
// process is ready.
func (s shown) deployment(r lab.Running, config *corev1.ConfigMap, path string) *appsv1.Deployment {
	one, grace := int32(1), int64(0)
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: s.own(), Annotations: map[string]string{hold: "ready"}},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{corev1.LabelInstanceTypeStable: systemType},
			PriorityClassName:             "system-cluster-critical",
			AutomountServiceAccountToken:  new(false),
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: s.name, Image: s.image, Args: r.Args, Env: envOf(r.Env)}},
		},
	}
	if config != nil {
		sum := sha256.Sum256([]byte(config.Data[filepath.Base(path)]))
		pod.Annotations["checksum/config"] = hex.EncodeToString(sum[:])
		pod.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: config.Name}},
		}}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: filepath.Dir(path), ReadOnly: true}}
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.namespace, Labels: s.own()},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{labelProcess: s.component}},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: pod,
		},
	}
}

// staticPod represents kube-controller-manager as the kubelet of a control plane node does.
func staticPod(r lab.Running, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: component.ControllerManager + "-" + node, Namespace: metav1.NamespaceSystem,
			Labels: map[string]string{
				"component": component.ControllerManager, "tier": "control-plane", labelProcess: component.ControllerManager,
			},
			Annotations: map[string]string{"kubernetes.io/config.source": "file", hold: "ready"},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true, PriorityClassName: "system-node-critical",
			AutomountServiceAccountToken: new(false),
			Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: component.ControllerManager, Image: "registry.k8s.io/kube-controller-manager:v1.36.3",
				Command: append([]string{component.ControllerManager}, r.Args...), Env: envOf(r.Env),
			}},
		},
	}
}

func envOf(env []string) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out = append(out, corev1.EnvVar{Name: name, Value: value})
	}
	return out
}
