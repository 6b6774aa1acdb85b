package workload

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// podOf is a pod of the gang g that a Job created.
func podOf(job, name, index string, change func(*corev1.Pod)) *corev1.Pod {
	p := pod(name, index, change)
	p.Namespace, p.UID, p.Labels = "ns", types.UID(name), map[string]string{batchv1.JobNameLabel: "g"}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "g", UID: types.UID(job), Controller: new(true)}}
	return &p
}

// started is a gang of one pod, whose Job has the UID job.
func started(t *testing.T) (*Gang, *fake.Clientset) {
	t.Helper()
	client := fake.NewClientset(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g", UID: "job"}})
	return &Gang{Spec: Spec{Name: "g", Pods: 1}, Namespace: "ns", cluster: &kube.Cluster{Client: client}, clock: clock.RealClock{}, job: "job"}, client
}

// watchesOf gets a value for each watch of a resource that has begun.
func watchesOf(client *fake.Clientset, resource string) <-chan struct{} {
	begun := make(chan struct{}, 16)
	client.PrependWatchReactor(resource, func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		begun <- struct{}{}
		return true, w, err
	})
	return begun
}

func create(t *testing.T, client *fake.Clientset, p *corev1.Pod) {
	t.Helper()
	if _, err := client.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPodsOfAnEarlierJobDecideNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	g, client := started(t)
	create(t, client, podOf("earlier", "old", "0", ended(corev1.PodFailed, 1)))
	create(t, client, podOf("job", "new", "0", ended(corev1.PodSucceeded, 0)))
	if err := g.WaitRunning(ctx); err != nil {
		t.Error(err)
	}
	if r, err := g.WaitDone(ctx); err != nil || !r.Succeeded || len(r.Pods) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if pods, err := g.Pods(ctx); err != nil || len(pods) != 1 || pods[0].Name != "new" {
		t.Errorf("%d pods, %v", len(pods), err)
	}
}

func TestSuccessOfAnEarlierJobIsNoSuccess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	g, client := started(t)
	create(t, client, podOf("earlier", "old", "0", ended(corev1.PodSucceeded, 0)))
	if r, err := g.WaitDone(ctx); err == nil || r.Succeeded {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAGangOfWhichAnIndexIsMissingHasNotSucceeded(t *testing.T) {
	t.Parallel()
	twice := state{pods: []corev1.Pod{pod("a", "0", ended(corev1.PodSucceeded, 0)), pod("b", "0", ended(corev1.PodSucceeded, 0))}}
	if r := resultOf(Spec{Pods: 2}, twice); r.Succeeded {
		t.Errorf("%+v", r)
	}
}

// A pod that is bound and deleted while the placement settles was placed.
func TestABoundPodThatVanishesIsStillPlaced(t *testing.T) {
	t.Parallel()
	g, client := started(t)
	g.Spec.Pods = 2
	create(t, client, podOf("job", "waits", "0", refused))
	create(t, client, podOf("job", "placed", "1", bound("gpu-01")))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	watching := watchesOf(client, "pods")
	w := g.watch(ctx)
	if err := w.synced(ctx); err != nil {
		t.Fatal(err)
	}
	// The fake API server forgets what happens between a list and its watch.
	select {
	case <-watching:
	case <-ctx.Done():
		t.Fatal("the pods are not watched")
	}
	if err := client.CoreV1().Pods("ns").Delete(ctx, "placed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for len(w.state().pods) != 1 {
		select {
		case <-w.changed:
		case <-ctx.Done():
			t.Fatal("the pod was not deleted")
		}
	}
	w.stop()
	create(t, client, podOf("job", "successor", "1", refused))
	p, err := g.Placement(ctx, 10*time.Millisecond)
	if err != nil || p.Replaced != 1 || p.Bound != 0 || p.Refused != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if now, err := g.PlacementNow(ctx); err != nil || now.Replaced != 1 {
		t.Errorf("now: %+v, %v", now, err)
	}
}
