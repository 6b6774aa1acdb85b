package kube

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
)

// PodLogs opens the log of a container, and with follow streams it until the container
// terminates. container can be empty for a pod with one container.
func (c *Cluster) PodLogs(ctx context.Context, namespace, pod, container string, follow bool) (io.ReadCloser, error) {
	return c.logs(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Follow: follow})
}

// PreviousLogs opens the log of the previous instance of a container, for a container in a
// crash loop.
func (c *Cluster) PreviousLogs(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	return c.logs(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Previous: true})
}

func (c *Cluster) logs(ctx context.Context, namespace, pod string, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	stream, err := c.Client.CoreV1().Pods(namespace).GetLogs(pod, opts).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("read log of pod %s/%s: %w", namespace, pod, err)
	}
	return stream, nil
}
