package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// watcher runs the informers of one run.
type watcher struct {
	shards int
	// job is the UID of the run's Job.
	job     types.UID
	changed chan struct{}

	jobs, pods, maps, events cache.SharedIndexInformer

	cancel  context.CancelFunc
	running sync.WaitGroup

	// cache is used by statuses, which one goroutine reads.
	cache map[string]decoded

	mu      sync.Mutex
	problem error
	// denied is a permission error, which is terminal.
	denied error
}

// watch starts informers for a run's Job, pods, reports and FailedCreate events. Objects of another
// Job of the same name do not count.
func watch(ctx context.Context, cluster *kube.Cluster, s *Spec, job types.UID) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{shards: s.Shards, job: job, changed: make(chan struct{}, 1), cache: map[string]decoded{}, cancel: cancel}
	byName := func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + s.job() }
	byJob := func(o *metav1.ListOptions) { o.LabelSelector = podsOf(s) }
	byRole := func(o *metav1.ListOptions) { o.LabelSelector = reportsOf(s) }
	about := func(o *metav1.ListOptions) { o.FieldSelector = eventsOf(s) }
	w.jobs = w.run(ctx, batchinformers.NewFilteredJobInformer(cluster.Client, s.namespace(), 0, nil, byName), w.recordWatchError)
	w.pods = w.run(ctx, coreinformers.NewFilteredPodInformer(cluster.Client, s.namespace(), 0, nil, byJob), w.recordWatchError)
	w.maps = w.run(ctx, coreinformers.NewFilteredConfigMapInformer(cluster.Client, s.namespace(), 0, nil, byRole), w.recordWatchError)
	w.events = w.run(ctx, coreinformers.NewFilteredEventInformer(cluster.Client, s.namespace(), 0, nil, about), func(error) {}) // events only add details
	w.running.Go(func() {                                                                                                       // empty lists send no event
		if cache.WaitForCacheSync(ctx.Done(), w.jobs.HasSynced, w.pods.HasSynced, w.maps.HasSynced) {
			w.signal()
		}
	})
	return w
}

// Selectors of a run's objects.
func podsOf(s *Spec) string { return batchv1.JobNameLabel + "=" + s.job() }
func reportsOf(s *Spec) string {
	return kube.LabelRun + "=" + s.RunID + "," + kube.LabelRole + "=" + roleReport
}
func eventsOf(s *Spec) string {
	return "involvedObject.kind=Job,involvedObject.name=" + s.job() + ",reason=FailedCreate"
}

func (w *watcher) run(ctx context.Context, informer cache.SharedIndexInformer, recordWatchError func(error)) cache.SharedIndexInformer {
	// Both fail only after the informer has started.
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { recordWatchError(err) })
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.signal() },
		UpdateFunc: func(_, _ any) { w.signal() },
		DeleteFunc: func(any) { w.signal() },
	})
	w.running.Go(func() { informer.RunWithContext(ctx) })
	return informer
}

func (w *watcher) signal() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watcher) recordWatchError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = err
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		w.denied = err
	}
	w.signal()
}

func (w *watcher) stop() {
	w.cancel()
	w.running.Wait()
}

// until calls done after every change until it returns true or an error. done is called by
// one goroutine.
func (w *watcher) until(ctx context.Context, done func(*status) (bool, error)) error {
	for {
		w.mu.Lock()
		denied, problem := w.denied, w.problem
		w.mu.Unlock()
		if denied != nil {
			return &Refused{What: "watch the run", Err: denied, Remedy: "the caller needs get, list and watch on jobs, pods and configmaps in the namespace"}
		}
		if w.jobs.HasSynced() && w.pods.HasSynced() && w.maps.HasSynced() {
			ok, err := done(w.status())
			if ok || err != nil {
				return err
			}
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			if err := context.Cause(ctx); problem == nil || errors.Is(problem, context.Canceled) {
				return err
			}
			return fmt.Errorf("%w (last watch error: %w)", context.Cause(ctx), problem)
		}
	}
}

func (w *watcher) status() *status {
	p := &status{shards: w.shards, cache: w.cache}
	for _, obj := range w.jobs.GetStore().List() {
		if job, ok := obj.(*batchv1.Job); ok && job.UID == w.job {
			p.job = job
		}
	}
	p.pods = podsOwnedBy(listed[corev1.Pod](w.pods), w.job)
	p.reports = slices.DeleteFunc(listed[corev1.ConfigMap](w.maps), func(m corev1.ConfigMap) bool { return !owned(&m, string(w.job)) })
	p.refusals = slices.DeleteFunc(listed[corev1.Event](w.events), func(e corev1.Event) bool { return e.InvolvedObject.UID != w.job })
	slices.SortFunc(p.refusals, func(a, b corev1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return p
}

// podsOwnedBy filters pods by the Job that created them. The Job's finalizer keeps each until it is
// counted, so no pod of the run is without its owner.
func podsOwnedBy(pods []corev1.Pod, job types.UID) []corev1.Pod {
	return slices.DeleteFunc(pods, func(p corev1.Pod) bool { return !owned(&p, string(job)) })
}

// listed copies an informer's objects.
func listed[T any](informer cache.SharedIndexInformer) []T {
	var out []T
	for _, obj := range informer.GetStore().List() {
		if o, ok := obj.(*T); ok {
			out = append(out, *o)
		}
	}
	return out
}
