package operand

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cudaValidation is the validator's init container that runs a CUDA workload.
const cudaValidation = "cuda-validation"

const crashLoop = "CrashLoopBackOff"

// crashing reports whether a pod's status has the crash loop.
func crashing(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.InitContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == cudaValidation && c.State.Waiting != nil && c.State.Waiting.Reason == crashLoop
	})
}

// crash writes the status of a validator whose CUDA workload fails: the init containers before it
// have completed, those after it wait.
func (o *Operands) crash(ctx context.Context, p *corev1.Pod) error {
	failed := slices.IndexFunc(p.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == cudaValidation })
	if failed < 0 {
		return fmt.Errorf("pod %s has no container %s", p.Name, cudaValidation)
	}
	var statuses []corev1.ContainerStatus
	for i, c := range p.Spec.InitContainers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: imageID(c.Image, false), Started: new(false)}
		switch {
		case i < failed:
			s.Ready, s.State.Terminated = true, &corev1.ContainerStateTerminated{Reason: "Completed"}
		case i == failed:
			s.RestartCount = 4
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: crashLoop, Message: "back-off 1m20s restarting failed container=" + c.Name + " pod=" + p.Name}
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
		default:
			s.ImageID = ""
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		}
		statuses = append(statuses, s)
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": p.UID},
		"status": map[string]any{"initContainerStatuses": statuses, "conditions": []corev1.PodCondition{{
			Type: corev1.PodInitialized, Status: corev1.ConditionFalse, Reason: "ContainersNotInitialized",
			Message: "containers with incomplete status: [" + cudaValidation + "]", LastTransitionTime: metav1.Now(),
		}}},
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

// restart deletes a pod; its DaemonSet creates another one, whose containers start again.
func (o *Operands) restart(ctx context.Context, p *corev1.Pod) error {
	err := o.client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s: %w", p.Name, err)
	}
	return nil
}
