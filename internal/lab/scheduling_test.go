package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
)

// requireScheduling: the lab has four components, creates and binds the pods of a workload in a new
// namespace, and has no extras.
func requireScheduling(t *testing.T, l *Lab) {
	t.Helper()
	st := l.Status()
	t.Logf("the lab took %s", st.Ready.Sub(st.Started))
	if st.State != StateReady || len(st.Components) != 4 {
		t.Fatalf("the lab is %s with %d components, want ready with 4", st.State, len(st.Components))
	}
	for _, c := range st.Components {
		if c.State != process.Ready || c.Restarts != 0 {
			t.Errorf("component %+v, want ready, at its first start", c)
		}
	}
	if err := l.Ensure(t.Context(), []string{component.ExtraKAI}); err == nil || !strings.Contains(err.Error(), "no extras") {
		t.Errorf("Ensure with an extra: %v, want no extras", err)
	}
	client, err := kubernetes.NewForConfig(l.RestConfig())
	if err != nil {
		t.Fatal(err)
	}
	placeOne(t, client)
}

func placeOne(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	labels := map[string]string{"app": "one"}
	if _, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"pods": resource.MustParse("3")}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AppsV1().ReplicaSets("one").Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := poll.Until(ctx, pollInterval, "both pods to be bound", func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods("one").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != 2 || slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.NodeName != "one" }) {
			return fmt.Errorf("%d pods, want 2, each bound", len(pods.Items))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSchedulingLabHasNoExtras(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Name: "scheduling", Dir: t.TempDir(), Purpose: component.Scheduling, With: []string{component.ExtraKarpenter}})
	if err == nil || !strings.Contains(err.Error(), "no extras") {
		t.Errorf("a lab for scheduling with an extra: %v, want an error", err)
	}
}
