package lab

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/poll"
)

const (
	canaryName      = "firstlight-canary"
	canaryNamespace = "default"
	canaryMark      = "firstlight.dev/lab-canary"
)

func (l *Lab) canaryNeeds() []string {
	needs := []string{component.ControllerManager, component.Scheduler}
	if l.opts.Purpose == component.Scheduling {
		return needs
	}
	return append(needs, component.Kwok)
}

// canary proves the control plane end to end: a pod is admitted, scheduled to its own KWOK node
// and, in labs with kwok, reported Running. It deletes both, so that node counts are not affected.
func (l *Lab) canary(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if _, err := client.CoreV1().Nodes().Create(ctx, l.canaryNode(), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the canary's node: %w", err)
	}
	pods := client.CoreV1().Pods(canaryNamespace)
	// No pod is admitted before the namespace's service account exists.
	err = poll.Until(ctx, pollInterval, "the canary pod to be admitted", func(ctx context.Context) error {
		if _, err := pods.Create(ctx, canaryPod(), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	phase := corev1.PodRunning
	if l.opts.Purpose == component.Scheduling {
		phase = corev1.PodPending // no kubelet
	}
	err = poll.Until(ctx, pollInterval, "the canary pod to be bound and "+string(phase), func(ctx context.Context) error {
		pod, err := pods.Get(ctx, canaryName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.Phase == phase && pod.Spec.NodeName == canaryName {
			return nil
		}
		return fmt.Errorf("phase %s on node %q: %s", pod.Status.Phase, pod.Spec.NodeName, schedulingMessage(pod))
	})
	if err != nil {
		return err
	}
	return l.removeCanary(ctx, client)
}

func (l *Lab) removeCanary(ctx context.Context, client kubernetes.Interface) error {
	now := int64(0)
	del := metav1.DeleteOptions{GracePeriodSeconds: &now}
	if err := client.CoreV1().Pods(canaryNamespace).Delete(ctx, canaryName, del); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the canary pod: %w", err)
	}
	if err := client.CoreV1().Nodes().Delete(ctx, canaryName, del); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the canary's node: %w", err)
	}
	return poll.Until(ctx, pollInterval, "the canary to be deleted", func(ctx context.Context) error {
		_, podErr := client.CoreV1().Pods(canaryNamespace).Get(ctx, canaryName, metav1.GetOptions{})
		_, nodeErr := client.CoreV1().Nodes().Get(ctx, canaryName, metav1.GetOptions{})
		if apierrors.IsNotFound(podErr) && apierrors.IsNotFound(nodeErr) {
			return nil
		}
		return errors.New("pod or node exists")
	})
}

func (l *Lab) canaryNode() *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1"),
		corev1.ResourceMemory: resource.MustParse("1Gi"),
		corev1.ResourcePods:   resource.MustParse("1"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        canaryName,
			Labels:      map[string]string{canaryMark: "", "kubernetes.io/os": "linux", "kubernetes.io/hostname": canaryName},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: canaryMark, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: l.net.subnet + ".253"}},
		},
	}
}

func canaryPod() *corev1.Pod {
	no, grace := false, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: canaryName, Namespace: canaryNamespace, Labels: map[string]string{canaryMark: ""}},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{canaryMark: ""},
			Tolerations:                   []corev1.Toleration{{Key: canaryMark, Operator: corev1.TolerationOpExists}},
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "canary", Image: "registry.k8s.io/pause:3.10"}},
		},
	}
}

func schedulingMessage(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue {
			return c.Message
		}
	}
	return "scheduled"
}
