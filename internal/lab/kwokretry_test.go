package lab

import (
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// A pod without a status from kwok is annotated after 15 s, once more after another 15 s, and
// then no more. Pods with a status, pods of other nodes and unbound pods are not annotated.
func TestKwokRetrier(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clk := clocktesting.NewFakeClock(start)
	bound := func(name, node string, change func(*corev1.Pod)) *corev1.Pod {
		pod := simplePod(name)
		pod.Namespace, pod.UID, pod.Spec.NodeName, pod.Status.Phase = "default", types.UID(name), node, corev1.PodPending
		pod.CreationTimestamp = metav1.NewTime(start.Add(-time.Hour))
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start)}}
		if change != nil {
			change(pod)
		}
		return pod
	}
	node := func(name, annotation string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{component.KwokAnnotation: annotation}}}
	}
	client := fake.NewClientset(
		node("kwok", component.KwokAnnotationValue), node("real", ""),
		bound("missed", "kwok", nil),
		bound("created bound", "kwok", func(p *corev1.Pod) { p.Status.Conditions = nil }),
		bound("processed", "kwok", func(p *corev1.Pod) { p.Status.StartTime = new(metav1.NewTime(start)) }),
		bound("other kubelet", "real", nil),
		bound("deleted node", "gone", nil),
		bound("unbound", "", func(p *corev1.Pod) { p.Status.Conditions = nil }),
	)
	retrier := newKwokRetrier(client, clk, slog.New(slog.DiscardHandler))
	for _, step := range []struct {
		after time.Duration
		want  map[string]string
	}{
		{0, map[string]string{"created bound": "1"}},
		{14 * time.Second, map[string]string{"created bound": "1"}},
		{16 * time.Second, map[string]string{"created bound": "2", "missed": "1"}},
		{20 * time.Second, map[string]string{"created bound": "2", "missed": "1"}},
		{32 * time.Second, map[string]string{"created bound": "2", "missed": "2"}},
		{time.Hour, map[string]string{"created bound": "2", "missed": "2"}},
	} {
		clk.SetTime(start.Add(step.after))
		if err := retrier.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		pods, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			if got := p.Annotations[kwokRetryAnnotation]; got != step.want[p.Name] {
				t.Errorf("after %s: pod %q has %d retries %q, want %q", step.after, p.Name, len(p.Annotations), got, step.want[p.Name])
			}
		}
	}
}
