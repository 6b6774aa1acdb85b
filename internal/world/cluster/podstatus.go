package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/poll"
)

// statusPatch is the container runtime's part of a pod's status.
type statusPatch struct {
	Phase             corev1.PodPhase          `json:"phase,omitempty"`
	Reason            string                   `json:"reason,omitempty"`
	Message           string                   `json:"message,omitempty"`
	Conditions        []corev1.PodCondition    `json:"conditions,omitempty"`
	ContainerStatuses []corev1.ContainerStatus `json:"containerStatuses,omitempty"`
}

// ended is the status of a pod whose container has exited for good.
func ended(pod *corev1.Pod, exit, restarts int, started, finished time.Time) statusPatch {
	phase, conditionReason := corev1.PodSucceeded, "PodCompleted"
	if exit != 0 {
		phase, conditionReason = corev1.PodFailed, "PodFailed"
	}
	p := statusPatch{Phase: phase, Conditions: notReady(conditionReason, finished)}
	for _, c := range pod.Spec.Containers {
		p.ContainerStatuses = append(p.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, RestartCount: int32(restarts), //nolint:gosec // a few
			Started: new(false), State: corev1.ContainerState{Terminated: terminated(exit, started, finished)},
		})
	}
	return p
}

// unpulled is the status of a pod whose image cannot be pulled.
func unpulled(pod *corev1.Pod) statusPatch {
	p := statusPatch{Phase: corev1.PodPending, Conditions: notReady("ContainersNotReady", time.Now())}
	for _, c := range pod.Spec.Containers {
		p.ContainerStatuses = append(p.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false), State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ImagePullBackOff", Message: fmt.Sprintf("Back-off pulling image %q: ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image: not found", c.Image),
			}},
		})
	}
	return p
}

// backingOff is the status of a pod whose container has exited and will restart.
func backingOff(pod *corev1.Pod, exit, restarts int, wait time.Duration, started, finished time.Time) statusPatch {
	p := statusPatch{Phase: corev1.PodRunning, Conditions: notReady("ContainersNotReady", finished)}
	for _, c := range pod.Spec.Containers {
		p.ContainerStatuses = append(p.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, RestartCount: int32(restarts), Started: new(false), //nolint:gosec // a few
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason:  "CrashLoopBackOff",
				Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", wait, c.Name, pod.Name, pod.Namespace, pod.UID),
			}},
			LastTerminationState: corev1.ContainerState{Terminated: terminated(exit, started, finished)},
		})
	}
	return p
}

// restarted is the status of a pod whose container was restarted; it is not ready yet.
func restarted(pod *corev1.Pod, restarts int, last *corev1.ContainerStateTerminated, at time.Time) statusPatch {
	p := statusPatch{Phase: corev1.PodRunning, Conditions: notReady("ContainersNotReady", at)}
	for _, c := range pod.Spec.Containers {
		p.ContainerStatuses = append(p.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, RestartCount: int32(restarts), Started: new(true), //nolint:gosec // a few
			State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}},
			LastTerminationState: corev1.ContainerState{Terminated: last},
		})
	}
	return p
}

// refused is the status of a pod that the kubelet did not admit.
func refused(why string) statusPatch {
	return statusPatch{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: why}
}

func terminated(exit int, started, finished time.Time) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if exit != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: int32(exit), Reason: reason,
		StartedAt: metav1.NewTime(started), FinishedAt: metav1.NewTime(finished),
	}
}

func notReady(reason string, at time.Time) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, t := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		out = append(out, corev1.PodCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(at)})
	}
	return out
}

// patchStatus retries until the status is written, the pod is gone or ctx ends.
func patchStatus(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, p statusPatch) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": p})
	if err != nil {
		return fmt.Errorf("encode status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return poll.Until(ctx, 200*time.Millisecond, fmt.Sprintf("the status of pod %s/%s to be patched", pod.Namespace, pod.Name), func(ctx context.Context) error {
		_, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
		switch {
		case apierrors.IsNotFound(err), apierrors.IsConflict(err): // deleted, or another pod of the name
			return nil
		case apierrors.IsInvalid(err):
			return poll.Stop(err)
		}
		return err
	})
}

// annotateHold sets or removes the annotation that keeps kwok's stages from making a running pod ready.
func annotateHold(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, held bool) error {
	if held {
		return setHold(ctx, client, pod, `"`+holdReady+`"`)
	}
	return setHold(ctx, client, pod, "null")
}

// setHold sets the annotation to a JSON value.
func setHold(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, pod.UID, holdAnnotation, value)
	return poll.Until(ctx, 200*time.Millisecond, fmt.Sprintf("the hold of pod %s/%s to be patched", pod.Namespace, pod.Name), func(ctx context.Context) error {
		_, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
}
