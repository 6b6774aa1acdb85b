package hookprovider

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// present is on the nodes that have GPUs, also where none of them can be given to a pod.
const present = "nvidia.com/gpu.present=true"

// reach finds a deployment's lab and makes clients of its API server.
func connect(ctx context.Context, deployment string) (*lab.Handle, *kube.Cluster, error) {
	handle, err := lab.Attach(ctx, deployment)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // names the lab
	}
	status, err := handle.Status(ctx)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // names the lab
	}
	cluster, err := kube.Open(status.Info.Kubeconfig, "")
	return handle, cluster, err //nolint:wrapcheck // names the file
}

// gpuNodes are those that have GPUs, or should.
func gpuNodes(ctx context.Context, cluster *kube.Cluster) ([]corev1.Node, error) {
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: present})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list.Items, nil
}
