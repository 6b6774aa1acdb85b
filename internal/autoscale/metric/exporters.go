package metric

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// exporterPort is the default port of dcgm-exporter.
const exporterPort = 9400

// exporterPod is the exporter of one node.
type exporterPod struct {
	node, namespace, name, ip string
	port                      int
}

// findExporters lists the exporter pods of the GPU stack's DaemonSet, or of the exporter's
// own chart in any namespace.
func findExporters(ctx context.Context, c *kube.Cluster, namespace string) ([]exporterPod, error) {
	sets, err := c.Client.AppsV1().DaemonSets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("find dcgm-exporter: %w", err)
	}
	in, selector := metav1.NamespaceAll, "app.kubernetes.io/name=dcgm-exporter"
	for _, s := range sets.Items {
		if strings.Contains(s.Name, "dcgm-exporter") {
			in, selector = namespace, metav1.FormatLabelSelector(s.Spec.Selector)
		}
	}
	pods, err := c.Client.CoreV1().Pods(in).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("list the pods of dcgm-exporter: %w", err)
	}
	out := make([]exporterPod, 0, len(pods.Items))
	for _, p := range pods.Items {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			out = append(out, exporterPod{node: p.Spec.NodeName, namespace: p.Namespace, name: p.Name, ip: p.Status.PodIP, port: portOf(&p)})
		}
	}
	return out, nil
}

func portOf(p *corev1.Pod) int {
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			return int(port.ContainerPort)
		}
	}
	return exporterPort
}
