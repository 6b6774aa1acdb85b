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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// watcher holds the informers of one run.
type watcher struct {
	shards  int
	changed chan struct{}

	jobs, pods, maps, events cache.SharedIndexInformer

	cancel  context.CancelFunc
	running sync.WaitGroup

	// told is kept for pictures, which are taken by one goroutine.
	told map[string]said

	mu      sync.Mutex
	trouble error
	// denied is set when something may not be watched: that does not pass.
	denied error
}

// watch follows a run's Job, pods, reports, and what the Job controller says of pods
// that it may not create.
func watch(ctx context.Context, cluster *kube.Cluster, s *Spec) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{shards: s.Shards, changed: make(chan struct{}, 1), told: map[string]said{}, cancel: cancel}
	factory := func(tweak func(*metav1.ListOptions)) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(cluster.Client, 0, informers.WithNamespace(s.namespace()), informers.WithTweakListOptions(tweak))
	}
	byName := factory(func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + s.job() })
	byJob := factory(func(o *metav1.ListOptions) { o.LabelSelector = podsOf(s) })
	byRole := factory(func(o *metav1.ListOptions) { o.LabelSelector = reportsOf(s) })
	about := factory(func(o *metav1.ListOptions) { o.FieldSelector = eventsOf(s) })
	w.jobs = w.run(ctx, byName.Batch().V1().Jobs().Informer(), w.note)
	w.pods = w.run(ctx, byJob.Core().V1().Pods().Informer(), w.note)
	w.maps = w.run(ctx, byRole.Core().V1().ConfigMaps().Informer(), w.note)
	w.events = w.run(ctx, about.Core().V1().Events().Informer(), func(error) {}) // they only explain
	w.running.Go(func() {                                                        // lists that are empty tell of no change
		if cache.WaitForCacheSync(ctx.Done(), w.jobs.HasSynced, w.pods.HasSynced, w.maps.HasSynced) {
			w.signal()
		}
	})
	return w
}

// Selectors of what belongs to a run.
func podsOf(s *Spec) string { return batchv1.JobNameLabel + "=" + s.job() }
func reportsOf(s *Spec) string {
	return kube.LabelRun + "=" + s.RunID + "," + kube.LabelRole + "=" + roleReport
}
func eventsOf(s *Spec) string {
	return "involvedObject.kind=Job,involvedObject.name=" + s.job() + ",reason=FailedCreate"
}

func (w *watcher) run(ctx context.Context, informer cache.SharedIndexInformer, note func(error)) cache.SharedIndexInformer {
	// All three only fail once the informer runs.
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { note(err) })
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

func (w *watcher) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = err
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		w.denied = err
	}
	w.signal()
}

func (w *watcher) stop() {
	w.cancel()
	w.running.Wait()
}

// until looks at every change until done says so. done is called by one goroutine.
func (w *watcher) until(ctx context.Context, done func(*picture) (bool, error)) error {
	for {
		w.mu.Lock()
		denied, trouble := w.denied, w.trouble
		w.mu.Unlock()
		if denied != nil {
			return &Refused{What: "watch the run", Err: denied, Remedy: "whoever runs this needs get, list and watch on jobs, pods and configmaps there"}
		}
		if w.jobs.HasSynced() && w.pods.HasSynced() && w.maps.HasSynced() {
			ok, err := done(w.picture())
			if ok || err != nil {
				return err
			}
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			if err := context.Cause(ctx); trouble == nil || errors.Is(trouble, context.Canceled) {
				return err
			}
			return fmt.Errorf("%w (last trouble with watching: %w)", context.Cause(ctx), trouble)
		}
	}
}

func (w *watcher) picture() *picture {
	p := &picture{shards: w.shards, told: w.told}
	for _, obj := range w.jobs.GetStore().List() {
		if job, ok := obj.(*batchv1.Job); ok {
			p.job = job
		}
	}
	p.pods = listed[corev1.Pod](w.pods)
	p.reports = listed[corev1.ConfigMap](w.maps)
	p.refusals = listed[corev1.Event](w.events)
	slices.SortFunc(p.refusals, func(a, b corev1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return p
}

// listed copies what an informer has.
func listed[T any](informer cache.SharedIndexInformer) []T {
	var out []T
	for _, obj := range informer.GetStore().List() {
		if o, ok := obj.(*T); ok {
			out = append(out, *o)
		}
	}
	return out
}
