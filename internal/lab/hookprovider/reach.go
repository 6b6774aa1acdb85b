package hookprovider

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// present labels nodes with GPUs, also if none is allocatable.
const present = "nvidia.com/gpu.present=true"

// connect returns clients of a deployment's lab.
func connect(ctx context.Context, deployment string) (*lab.Handle, *kube.Cluster, error) {
	handle, err := lab.Attach(ctx, deployment)
	if err != nil {
		return nil, nil, err
	}
	status, err := handle.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := kube.Open(status.Info.Kubeconfig, "")
	return handle, cluster, err
}

// gpuNodes returns the nodes that have, or should have, GPUs.
func gpuNodes(ctx context.Context, cluster *kube.Cluster) ([]corev1.Node, error) {
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: present})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list.Items, nil
}
