package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// explainDeadline limits the reads that explain a wait whose context has ended.
const explainDeadline = 30 * time.Second

// Explain describes the gang's state and why it does not progress: scheduler messages,
// waiting containers, exit codes. It does not fail; read errors are part of the text.
func (g *Gang) Explain(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, explainDeadline)
	defer cancel()
	pods, err := g.Pods(ctx)
	if err != nil {
		return "cannot list its pods: " + err.Error()
	}
	lines := []string{fmt.Sprintf("%d of %d pods exist", len(pods), g.Spec.Pods)}
	for i := range pods {
		if line := podLine(&pods[i]); line != "" {
			lines = append(lines, line)
		}
	}
	lines = append(lines, g.refusals(ctx)...)
	events, err := g.cluster.Client.CoreV1().Events(g.Namespace).List(ctx, metav1.ListOptions{})
	if err == nil {
		for _, e := range events.Items {
			if e.Type == corev1.EventTypeWarning && strings.HasPrefix(e.InvolvedObject.Name, g.Spec.Name) {
				lines = append(lines, e.Reason+": "+e.Message)
			}
		}
	}
	return strings.Join(distinct(lines), "; ")
}

func podLine(pod *corev1.Pod) string {
	if pod.Spec.NodeName == "" {
		if c := scheduled(pod); c != nil && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s is not placed: %s: %s", pod.Name, c.Reason, c.Message)
		}
		return fmt.Sprintf("pod %s is not placed and has no scheduling decision", pod.Name)
	}
	o := outcomeOf(pod)
	if o.Stuck != "" {
		return fmt.Sprintf("pod %s on %s: %s", o.Pod, o.Node, o.Stuck)
	}
	return o.String()
}

// scheduled is the pod's PodScheduled condition.
func scheduled(pod *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

// refusals are the gang scheduler's messages on the group objects.
func (g *Gang) refusals(ctx context.Context) []string {
	groups, err := g.groups(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, group := range groups {
		if reason, refused := g.scheduler.Refused(group); refused {
			out = append(out, g.scheduler.Name()+": "+reason)
		}
	}
	return out
}

func distinct(lines []string) []string {
	seen := make(map[string]bool, len(lines))
	return slices.DeleteFunc(lines, func(l string) bool {
		duplicate := seen[l]
		seen[l] = true
		return duplicate
	})
}
