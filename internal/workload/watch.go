package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// state is a snapshot of a gang: its Job, the pods of that Job, its group objects. others is
// how many pods an earlier Job of the same name has.
type state struct {
	job    *batchv1.Job
	pods   []corev1.Pod
	groups []*unstructured.Unstructured
	others int
}

func (g *Gang) selector() string { return batchv1.JobNameLabel + "=" + g.Spec.Name }

// until watches the gang's Job, pods and group until done returns true or an error. done is
// called after every change, never concurrently.
func (g *Gang) until(ctx context.Context, done func(state) (bool, error)) error {
	w := g.watch(ctx)
	defer w.stop()
	if err := w.synced(ctx); err != nil {
		return err
	}
	for {
		ok, err := done(w.state())
		if ok || err != nil {
			return err
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return w.ended(ctx)
		}
	}
}

// watcher has the informers of one wait.
type watcher struct {
	gang               *Gang
	changed            chan struct{}
	pods, jobs, groups cache.SharedIndexInformer
	cancel             context.CancelFunc
	running            sync.WaitGroup
	mu                 sync.Mutex
	lastErr            error
}

func (g *Gang) watch(ctx context.Context) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{gang: g, changed: make(chan struct{}, 1), cancel: cancel}
	typed := informers.NewSharedInformerFactoryWithOptions(g.cluster.Client, 0, informers.WithNamespace(g.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = g.selector() }))
	w.pods = w.run(ctx, typed.Core().V1().Pods().Informer())
	// A Job has no label with its own name.
	jobs := informers.NewSharedInformerFactoryWithOptions(g.cluster.Client, 0, informers.WithNamespace(g.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + g.Spec.Name }))
	w.jobs = w.run(ctx, jobs.Batch().V1().Jobs().Informer())
	if g.scheduler != nil {
		dyn := dynamicinformer.NewFilteredDynamicSharedInformerFactory(g.cluster.Dynamic, 0, g.Namespace, nil)
		w.groups = w.run(ctx, dyn.ForResource(g.scheduler.GroupResource()).Informer())
	}
	return w
}

func (w *watcher) run(ctx context.Context, informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	signal := func() {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	// Both fail only for a running informer.
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { w.note(err) })
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.gang.noteObject(obj); signal() },
		UpdateFunc: func(_, obj any) { w.gang.noteObject(obj); signal() },
		DeleteFunc: func(any) { signal() },
	})
	w.running.Go(func() { informer.RunWithContext(ctx) })
	return informer
}

func (w *watcher) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastErr = err
}

// synced waits for the first lists of pods and Jobs. Group objects are optional.
func (w *watcher) synced(ctx context.Context) error {
	if !cache.WaitFor(ctx, "", w.pods.HasSyncedChecker(), w.jobs.HasSyncedChecker()) {
		return w.ended(ctx)
	}
	return nil
}

func (w *watcher) ended(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := context.Cause(ctx)
	if w.lastErr != nil && !errors.Is(w.lastErr, context.Canceled) {
		return fmt.Errorf("%w (last watch error: %w)", err, w.lastErr)
	}
	return err
}

func (w *watcher) stop() {
	w.cancel()
	w.running.Wait()
}

func (w *watcher) state() state {
	var s state
	for _, obj := range w.pods.GetStore().List() {
		switch pod, ok := obj.(*corev1.Pod); {
		case ok && w.gang.created(pod):
			s.pods = append(s.pods, *pod)
		case ok:
			s.others++
		}
	}
	sortPods(s.pods)
	for _, obj := range w.jobs.GetStore().List() {
		if job, ok := obj.(*batchv1.Job); ok && (w.gang.job == "" || job.UID == w.gang.job) {
			s.job = job
		}
	}
	if w.groups != nil {
		for _, obj := range w.groups.GetStore().List() {
			if group, ok := obj.(*unstructured.Unstructured); ok && w.gang.owns(group) {
				s.groups = append(s.groups, group)
			}
		}
	}
	return s
}

// owns reports whether a group object is the gang's: by its name, or owned by its Job.
func (g *Gang) owns(group *unstructured.Unstructured) bool {
	if group.GetName() == g.Spec.Name {
		return true
	}
	return slices.ContainsFunc(group.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
		return o.Kind == "Job" && o.Name == g.Spec.Name && (g.job == "" || o.UID == g.job)
	})
}

// members are the current pods of the gang's Job, one for each index, without pods that are
// being deleted or were replaced.
func members(pods []corev1.Pod) []corev1.Pod {
	var out []corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		i := slices.IndexFunc(out, func(p corev1.Pod) bool { return Index(&p) >= 0 && Index(&p) == Index(&pod) })
		switch {
		case i < 0:
			out = append(out, pod)
		case out[i].CreationTimestamp.Before(&pod.CreationTimestamp):
			out[i] = pod
		}
	}
	return out
}

// created reports whether the gang's Job created a pod.
func (g *Gang) created(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return g.job == "" || owner != nil && owner.UID == g.job
}

// noteObject is note for an object of an informer.
func (g *Gang) noteObject(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		g.note(pod)
	}
}

// note remembers a pod of the gang that is bound: it counts as placed after it is deleted too.
func (g *Gang) note(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" || !g.created(pod) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.everBound == nil {
		g.everBound = map[types.UID]bool{}
	}
	g.everBound[pod.UID] = true
}

// vanished is how many pods were bound and do not exist any more.
func (g *Gang) vanished(pods []corev1.Pod) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid := range g.everBound {
		if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.UID == uid }) {
			n++
		}
	}
	return n
}

// sortPods sorts by index, then by name.
func sortPods(pods []corev1.Pod) {
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(Index(&a), Index(&b)), cmp.Compare(a.Name, b.Name))
	})
}

// Index is a pod's completion index; -1 if it has none.
func Index(pod *corev1.Pod) int {
	text, ok := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if !ok {
		return -1
	}
	i, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return i
}
