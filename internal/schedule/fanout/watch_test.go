package fanout

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// jobCluster has the Job uid of a run that completed shard 0, with a pod, a report and an event.
func jobCluster(s *Spec, uid types.UID) *kube.Cluster {
	o := Render(s)
	o.Job.UID = uid
	o.Job.Status.CompletedIndexes = "0"
	o.Job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	pod := podOf(0, "a", runs)
	pod.Namespace, pod.Labels, pod.OwnerReferences = s.namespace(), map[string]string{batchv1.JobNameLabel: s.job()}, owner(s.job(), uid)
	report := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: s.namespace(), Labels: labels(s.RunID, roleReport), OwnerReferences: owner(s.job(), uid)}}
	event := refusal(2, "exceeded quota")
	event.Name, event.Namespace, event.InvolvedObject = "e", s.namespace(), corev1.ObjectReference{Kind: "Job", Name: s.job(), UID: uid}
	return &kube.Cluster{Client: fake.NewClientset(o.Job, &pod, report, &event)}
}

// Objects of an earlier Job of the same name do not count, neither while the Job runs nor at its end.
func TestObjectsOfAnotherJobDoNotCount(t *testing.T) {
	t.Parallel()
	s := specOf("a")
	for uid, counts := range map[types.UID]int{"new": 1, "old": 0} {
		cluster := jobCluster(&s, uid)
		w := watch(t.Context(), cluster, &s, "new")
		err := w.until(t.Context(), func(*status) (bool, error) {
			for _, informer := range []cache.SharedIndexInformer{w.jobs, w.pods, w.maps, w.events} {
				if len(informer.GetStore().List()) == 0 {
					return false, nil // its first object follows, with a signal
				}
			}
			p := w.status()
			if (p.job != nil) != (counts > 0) || len(p.pods) != counts || len(p.reports) != counts || len(p.refusals) != counts {
				t.Errorf("of Job %s: Job %v, %d pods, %d reports, %d refusals", uid, p.job, len(p.pods), len(p.reports), len(p.refusals))
			}
			return true, nil
		})
		w.stop()
		if err != nil {
			t.Error(err)
		}
		p, err := readAll(t.Context(), cluster, &s, "new")
		switch {
		case counts > 0 && (err != nil || len(p.pods) != 1):
			t.Errorf("at the end: %+v, %v", p, err)
		case counts == 0 && (err == nil || !strings.Contains(err.Error(), "was replaced: its UID is old, want new")):
			t.Errorf("a replaced Job at the end: %v", err)
		}
	}
}

// The wait for the end of the pods lists them at an interval, also while they change all the time.
func TestWaitForPodsGoneListsAtAnInterval(t *testing.T) {
	t.Parallel()
	const most = 25
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s, lists := specOf("a"), 0
		client := fake.NewClientset()
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			if lists++; lists > 10*most {
				cancel()
			}
			return true, &corev1.PodList{Items: []corev1.Pod{podOf(0, "a", runs, func(p *corev1.Pod) { p.Labels = map[string]string{batchv1.JobNameLabel: s.job()} })}}, nil
		})
		client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, apiwatch.Interface, error) {
			w := apiwatch.NewFakeWithChanSize(1, false)
			w.Modify(&corev1.Pod{})
			return true, w, nil
		})
		err := waitForPodsGone(ctx, &kube.Cluster{Client: client}, &s)
		if err == nil || !strings.Contains(err.Error(), "1 pods of the run still exist, first a") || lists > most {
			t.Errorf("%d lists within 10 s, want at most %d: %v", lists, most, err)
		}
	})
}
