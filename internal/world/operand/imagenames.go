package operand

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// invalidImageName is a kubelet's reason for a container whose image has a name that cannot be read.
const invalidImageName = "InvalidImageName"

func invalidName(image string) bool {
	_, err := name.ParseReference(image)
	return err != nil
}

// imagesOf are the images of all containers of a pod.
func imagesOf(p *corev1.Pod) []string {
	var out []string
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		out = append(out, c.Image)
	}
	return out
}

// refused reports whether a pod shows that the name of an image cannot be read.
func refused(p *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == invalidImageName
	})
}

// waitingForImages are the statuses of containers that wait for their images.
func waitingForImages(containers []corev1.Container) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range containers {
		w := &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		if invalidName(c.Image) {
			w.Reason = invalidImageName
			w.Message = fmt.Sprintf("Failed to apply default image tag %q: invalid reference format", c.Image)
		}
		out = append(out, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Started: new(false), State: corev1.ContainerState{Waiting: w}})
	}
	return out
}

// refuseImages writes the status of a pod with an image whose name cannot be read.
func (o *Operands) refuseImages(ctx context.Context, p *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.UID},
		"status": map[string]any{
			"initContainerStatuses": waitingForImages(p.Spec.InitContainers),
			"containerStatuses":     waitingForImages(p.Spec.Containers),
		},
	})
	if err != nil {
		return fmt.Errorf("encode status of pod %s: %w", p.Name, err)
	}
	_, err = o.client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("patch status of pod %s: %w", p.Name, err)
	}
	return nil
}
