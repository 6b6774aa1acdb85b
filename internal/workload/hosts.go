package workload

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// hostLabels are the values of the hostname label of nodes. It may differ from the node's name: on AWS a node is called
// ip-10-0-1-2.ec2.internal and has the label ip-10-0-1-2. A selector of names (matchFields) has a term for each node, which is too
// long for a gang on all nodes of a large cluster. Without permission to list nodes the result is their names.
func hostLabels(ctx context.Context, cluster *kube.Cluster, nodes []string) ([]string, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if apierrors.IsForbidden(err) {
		return nodes, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hostname labels of nodes: %w", err)
	}
	labels := map[string]string{}
	for i := range list.Items {
		labels[list.Items[i].Name] = list.Items[i].Labels[corev1.LabelHostname]
	}
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		if label := labels[n]; label != "" {
			n = label
		}
		out = append(out, n)
	}
	return out, nil
}

// hostnames are the values of the nodes' hostname label as far as they are known, else their names.
func (s Spec) hostnames() []string {
	if s.hosts != nil {
		return s.hosts
	}
	return s.Nodes
}
