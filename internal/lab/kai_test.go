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

// testKAI lets a lab gain the KAI scheduler: it binds a Deployment's pods that
// name a queue, on nodes that are there and, with Karpenter, on new ones; a pod
// of a queue that is not there waits.
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

	// All of those came later, and were scheduled.
	pod, err := r.client.CoreV1().Pods("default").Get(t.Context(), "lost", metav1.GetOptions{})
	if err != nil || pod.Spec.NodeName != "" {
		t.Errorf("a pod of a queue that is not there is on node %q, %v", pod.Spec.NodeName, err)
	}
}

// requireUnchangedByFailure lets a lab try to gain something that does not start,
// and something that nobody waits for: it has then what it had, and no more runs.
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
	if err == nil || !strings.Contains(err.Error(), "give the lab kai") || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("programs that end at once: %v, want which, and how", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Ensure(ctx, []string{component.ExtraKAI}); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v, want cancelled", err)
	}
	if with := r.With(); !slices.Equal(with, had) || len(r.Components()) != before || r.Status().State != StateReady {
		t.Errorf("afterwards the lab has %v, %d components, and is %s; want it as it was", with, len(r.Components()), r.Status().State)
	}
}
