package gpustack

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func (g *Gate) observeOperands(ctx context.Context, cluster *kube.Cluster, rec check.Recorder) error {
	if g.builtIn() {
		return nil
	}
	attempt := g.begin(rec, kindOperands, g.stack.Namespace, "GET daemonsets, pods -n "+g.stack.Namespace)
	sets, err := cluster.Client.AppsV1().DaemonSets(g.stack.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("list DaemonSets of %s: %w", g.stack.Namespace, err))
	}
	pods, err := cluster.Client.CoreV1().Pods(g.stack.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return attempt.Raw(rawJSON(sets)).Record(nil, fmt.Errorf("list pods of %s: %w", g.stack.Namespace, err))
	}
	history, err := revisions(ctx, cluster, g.stack.Namespace, sets.Items)
	if err != nil {
		return attempt.Raw(rawJSON(sets)).Record(nil, err)
	}
	figures := []operandFigures{}
	for _, name := range g.stack.Operands {
		found := false
		for i := range sets.Items {
			if !g.stack.Names(name, sets.Items[i].Name) {
				continue
			}
			found = true
			if !slices.ContainsFunc(figures, func(f operandFigures) bool { return f.Found && f.Name == sets.Items[i].Name }) { // named twice
				figures = append(figures, readOperand(&sets.Items[i], pods.Items, history))
			}
		}
		if !found {
			figures = append(figures, operandFigures{Name: name})
		}
	}
	for i := range sets.Items {
		sets.Items[i].ManagedFields = nil
	}
	if err := g.readWithout(ctx, cluster, sets.Items, figures); err != nil {
		return attempt.Raw(rawJSON(sets)).Record(nil, err)
	}
	return attempt.Raw(rawJSON(sets)).Record(figures, nil)
}

func readOperand(set *appsv1.DaemonSet, pods []corev1.Pod, history []appsv1.ControllerRevision) operandFigures {
	f := operandFigures{
		Name: set.Name, Found: true, Current: set.Status.ObservedGeneration >= set.Generation,
		Desired: int(set.Status.DesiredNumberScheduled), Ready: int(set.Status.NumberReady), Updated: int(set.Status.UpdatedNumberScheduled),
	}
	old := outdated(set, history)
	for i := range pods {
		pod := &pods[i]
		if !metav1.IsControlledBy(pod, set) {
			continue
		}
		ready, why := podReady(pod)
		f.Pods = append(f.Pods, operandPod{Pod: pod.Name, Node: pod.Spec.NodeName, Ready: ready, Why: why, Outdated: old(pod), Images: imagesOf(pod)})
	}
	return f
}

func imagesOf(pod *corev1.Pod) []operandImage {
	var out []operandImage
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		out = append(out, operandImage{Container: c.Name, Image: c.Image, ID: c.ImageID})
	}
	return out
}

// podReady reports whether a pod is ready, and why not.
func podReady(pod *corev1.Pod) (ready bool, why string) {
	why = "phase " + string(pod.Status.Phase)
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodReady {
			continue
		}
		if c.Status == corev1.ConditionTrue {
			return true, ""
		}
		if c.Reason != "" {
			why += ", " + c.Reason
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil {
			why += fmt.Sprintf(", container %s: %s %s", c.Name, w.Reason, w.Message)
		}
	}
	return false, why
}
