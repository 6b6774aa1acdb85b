package gpustack

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kindPlugins are the pods of all namespaces that run a device plugin on the nodes.
const kindPlugins = "device-plugins"

// pluginDirectory is the end of the kubelet's directory of device plugins, in which they register:
// /var/lib/kubelet/device-plugins, below another root on some distributions.
const pluginDirectory = "/kubelet/device-plugins"

// nodePod is a pod with a container that mounts the kubelet's directory of device plugins, or that
// installs a driver.
type nodePod struct {
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	// DaemonSet that controls the pod; empty: none.
	DaemonSet string `json:"daemonSet,omitempty"`
	// Images of these containers.
	Images      []string `json:"images"`
	Terminating bool     `json:"terminating,omitempty"`
}

// observePlugins lists the device plugins' pods on the nodes of the inventory.
func (g *Gate) observePlugins(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	attempt := g.begin(rec, kindPlugins, "cluster", "GET pods: those that mount the host's "+pluginDirectory)
	return g.recordPods(ctx, cluster, attempt, pluginImagesOf)
}

// recordPods records the live pods on the nodes of the inventory for which imagesOf returns images.
func (g *Gate) recordPods(ctx context.Context, cluster *kube.Cluster, attempt check.Attempt, imagesOf func(*corev1.PodSpec) []string) error {
	list, err := cluster.Client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
	})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list pods of all namespaces: %w", err))
	}
	figures, raw := []nodePod{}, []corev1.Pod{}
	for i := range list.Items {
		pod := &list.Items[i]
		if f := nodePodOf(pod, imagesOf(&pod.Spec)); len(f.Images) > 0 && slices.Contains(g.nodes, f.Node) {
			pod.ManagedFields = nil
			figures, raw = append(figures, f), append(raw, *pod)
		}
	}
	return attempt.Raw(rawJSON(raw)).Record(figures, nil)
}

func nodePodOf(pod *corev1.Pod, images []string) nodePod {
	f := nodePod{Node: pod.Spec.NodeName, Namespace: pod.Namespace, Pod: pod.Name, Images: images, Terminating: pod.DeletionTimestamp != nil}
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "DaemonSet" {
		f.DaemonSet = owner.Name
	}
	return f
}

// pluginImagesOf returns the images of the containers that mount the directory of device plugins. Init
// containers do not run as long as the pod.
func pluginImagesOf(spec *corev1.PodSpec) []string {
	var out []string
	for _, c := range spec.Containers {
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
				return v.Name == m.Name && v.HostPath != nil && strings.HasSuffix(path.Clean(v.HostPath.Path), pluginDirectory)
			})
		}) {
			out = append(out, c.Image)
		}
	}
	return out
}
