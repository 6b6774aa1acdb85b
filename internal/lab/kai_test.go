package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/upstream"
)

const (
	kaiName  = "kai-scheduler"
	kaiLabel = "kai.scheduler/queue"
)

// testKAI adds the KAI scheduler: it binds pods of a Deployment with a queue to existing nodes
// and, with Karpenter, to new ones; a pod of a missing queue stays pending.
func testKAI(t *testing.T, r *running) {
	requireUnchangedByFailure(t, r)
	begin := time.Now()
	if err := r.Ensure(t.Context(), []string{component.ExtraKarpenter, component.ExtraKAI}); err != nil {
		t.Fatal(err)
	}
	t.Logf("KAI was ready after %s", time.Since(begin))
	lost := simplePod("lost")
	lost.Labels = map[string]string{kaiLabel: "no-such-queue"}
	lost.Spec.SchedulerName = kaiName
	r.createPod(t, lost)

	template := simplePod("").Spec
	template.SchedulerName = kaiName
	replicas, labels := int32(2), map[string]string{"app": "queued", kaiLabel: "default-queue"}
	begin = time.Now()
	_, err := r.client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "queued"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "queued"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.awaitRunning(t, "app=queued", 2)
	t.Logf("KAI's pods ran after %s", time.Since(begin))

	begin = time.Now()
	ordering := orderingPod("queued-order", "g5.xlarge")
	ordering.Labels = map[string]string{"app": "ordering", kaiLabel: "default-queue"}
	ordering.Spec.SchedulerName = kaiName
	r.createPod(t, ordering)
	r.awaitRunning(t, "app=ordering", 1)
	t.Logf("KAI's pod ran on a new node after %s", time.Since(begin))

	// The pods scheduled above were created later.
	pod, err := r.client.CoreV1().Pods("default").Get(t.Context(), "lost", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "" {
		t.Errorf("a pod of a missing queue is on node %q, %v", pod.Spec.NodeName, err)
	}
}

// requireUnchangedByFailure adds an extra that does not start, and one with a cancelled context:
// the lab is unchanged.
func requireUnchangedByFailure(t *testing.T, r *running) {
	t.Helper()
	before, had := len(r.Components()), r.With()
	good := r.opts.Programs
	r.opts.Programs = func(_ context.Context, names []string) (upstream.Programs, error) {
		paths := map[string]string{}
		for _, n := range names {
			paths[n] = "/bin/false"
		}
		return upstream.NewPrograms(paths), nil
	}
	err := r.Ensure(t.Context(), []string{component.ExtraKAI})
	r.opts.Programs = good
	if err == nil || !strings.Contains(err.Error(), "add kai to the lab") || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("programs that exit at once: %v, want name and status", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Ensure(ctx, []string{component.ExtraKAI}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled context: %v, want cancelled", err)
	}
	if with := r.With(); !slices.Equal(with, had) || len(r.Components()) != before || r.Status().State != StateReady {
		t.Errorf("the lab has %v and %d components and is %s, want no change", with, len(r.Components()), r.Status().State)
	}
}
