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

// explainDeadline bounds the reads that explain a wait whose context has ended.
const explainDeadline = 30 * time.Second

// Explain says how the gang stands and why it does not get further: what the
// scheduler said, what containers wait for, exit codes. It never fails; what
// can't be read is said.
func (g *Gang) Explain(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, explainDeadline)
	defer cancel()
	pods, err := g.Pods(ctx)
	if err != nil {
		return "its pods could not be read: " + err.Error()
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
		return fmt.Sprintf("pod %s is not placed and no scheduler has looked at it", pod.Name)
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

// refusals is what the gang scheduler says on the group objects.
func (g *Gang) refusals(ctx context.Context) []string {
	if g.scheduler == nil {
		return nil
	}
	list, err := g.cluster.Dynamic.Resource(g.scheduler.GroupResource()).Namespace(g.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	var out []string
	for i := range list.Items {
		if why, refused := g.scheduler.Refused(&list.Items[i]); refused && g.owns(&list.Items[i]) {
			out = append(out, g.scheduler.Name()+": "+why)
		}
	}
	return out
}

func distinct(lines []string) []string {
	seen := make(map[string]bool, len(lines))
	return slices.DeleteFunc(lines, func(l string) bool {
		was := seen[l]
		seen[l] = true
		return was
	})
}
