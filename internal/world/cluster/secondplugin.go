package cluster

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/world"
)

// secondPlugin is NVIDIA's device plugin as installed by hand, in addition to that of the GPU Operator.
type secondPlugin struct {
	client kubernetes.Interface
	world  *world.World
	// exists: the DaemonSet or pods of it may exist.
	exists bool
}

// secondPluginLabels select its pods.
var secondPluginLabels = map[string]string{"name": "nvidia-device-plugin-ds"}

// secondPluginSet is the DaemonSet of github.com/NVIDIA/k8s-device-plugin, deployments/static.
func secondPluginSet() *appsv1.DaemonSet {
	const directory = "/var/lib/kubelet/device-plugins"
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "nvidia-device-plugin-daemonset", Namespace: metav1.NamespaceSystem},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: secondPluginLabels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: secondPluginLabels},
				Spec: corev1.PodSpec{
					PriorityClassName: "system-node-critical",
					Tolerations:       []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
					Containers: []corev1.Container{{
						Name: "nvidia-device-plugin-ctr", Image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1",
						VolumeMounts: []corev1.VolumeMount{{Name: "kubelet-device-plugins-dir", MountPath: directory}},
					}},
					Volumes: []corev1.Volume{{
						Name:         "kubelet-device-plugins-dir",
						VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: directory, Type: new(corev1.HostPathDirectory)}},
					}},
				},
			},
		},
	}
}

// sync creates or deletes the DaemonSet, and returns nil when its pods are those of the world.
func (s *secondPlugin) sync(ctx context.Context) error {
	wanted := s.world.Recent().DevicePluginTwice
	if !wanted && !s.exists {
		return nil
	}
	sets, pods := s.client.AppsV1().DaemonSets(metav1.NamespaceSystem), s.client.CoreV1().Pods(metav1.NamespaceSystem)
	selected := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: secondPluginLabels})}
	set := secondPluginSet()
	if wanted {
		s.exists = true
		if _, err := sets.Create(ctx, set, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return wrap(err, "create the second device plugin")
		}
	} else {
		if err := sets.Delete(ctx, set.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return wrap(err, "delete the second device plugin")
		}
		if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, selected); err != nil {
			return wrap(err, "delete pods of the second device plugin")
		}
	}
	list, err := pods.List(ctx, selected)
	if err != nil {
		return wrap(err, "list pods of the second device plugin")
	}
	if !wanted {
		s.exists = len(list.Items) > 0
		if s.exists {
			return fmt.Errorf("%d pods of the second device plugin still exist", len(list.Items))
		}
		return nil
	}
	for _, n := range s.world.Recent().GPUNodes() {
		if !slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return p.Spec.NodeName == n.Name }) {
			return fmt.Errorf("the second device plugin has no pod on %s", n.Name)
		}
	}
	return nil
}
