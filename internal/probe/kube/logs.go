package kube

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
)

// PodLogs opens a container's log as it is now, or follows it until the
// container ends. container may be empty for a pod with one.
func (c *Cluster) PodLogs(ctx context.Context, namespace, pod, container string, follow bool) (io.ReadCloser, error) {
	return c.logs(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Follow: follow})
}

// PreviousLogs opens the log of the container's last instance: what a
// container in a crash loop said before it ended.
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
