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
	lines = append(lines, g.refusals(ctx, len(pods))...)
	for _, e := range g.listWarnings(ctx) {
		lines = append(lines, e.Reason+": "+e.Message)
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

// refusals are the gang scheduler's messages on the group objects of a gang with this number of pods.
func (g *Gang) refusals(ctx context.Context, pods int) []string {
	groups, err := g.groups(ctx)
	if err != nil {
		return nil
	}
	var out []string
	if kueue, ok := g.scheduler.(Kueue); ok && pods == 0 {
		out = kueue.holds(groups, g.kind)
	}
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

// listWarnings lists the warnings about the gang's objects; none if they cannot be read.
func (g *Gang) listWarnings(ctx context.Context) []corev1.Event {
	ctx, cancel := context.WithTimeout(ctx, explainDeadline)
	defer cancel()
	events, err := g.cluster.Client.CoreV1().Events(g.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	return g.warnings(events.Items)
}

// warnings are those of the events that are about the gang's objects, and not about those of an earlier
// gang of its name.
func (g *Gang) warnings(events []corev1.Event) []corev1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool {
		last := e.LastTimestamp
		if last.IsZero() {
			last = metav1.NewTime(e.EventTime.Time)
		}
		if e.Series != nil {
			last = metav1.NewTime(e.Series.LastObservedTime.Time)
		}
		return e.Type != corev1.EventTypeWarning || !strings.HasPrefix(e.InvolvedObject.Name, g.Spec.Name) || !last.IsZero() && last.Unix() < g.created.Unix()
	})
}

// denied is the API server's refusal of the pods that a job's controller creates; empty without one. The
// Job controller and Volcano report it as FailedCreate, the MPI Operator as MPIJobFailed.
func denied(warnings []corev1.Event) string {
	for _, e := range slices.Backward(warnings) {
		created := e.Reason == "FailedCreate" || strings.Contains(e.Message, "pod created failed")
		if created && (strings.Contains(e.Message, "is forbidden") || strings.Contains(e.Message, "denied the request")) {
			return e.Message
		}
	}
	return ""
}
