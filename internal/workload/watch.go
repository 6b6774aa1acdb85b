package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// state is a snapshot of a gang: its job, the pods of that job, its group objects. others is
// how many pods an earlier job of the same name has.
type state struct {
	job    *jobState
	pods   []corev1.Pod
	groups []*unstructured.Unstructured
	others int
}

// jobState is what a job object states.
type jobState struct {
	// failed is the reason and message of a failed job; empty: it has not failed.
	failed string
	// suspended is set if its controller may create no pods.
	suspended bool
}

func (g *Gang) selector() string { return podLabel(g.kind) + "=" + g.Spec.Name }

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
	w.pods = w.run(ctx, coreinformers.NewFilteredPodInformer(g.cluster.Client, g.Namespace, 0, nil,
		func(o *metav1.ListOptions) { o.LabelSelector = g.selector() }))
	// A job has no label with its own name.
	byName := func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + g.Spec.Name }
	if g.kind == nil {
		w.jobs = w.run(ctx, batchinformers.NewFilteredJobInformer(g.cluster.Client, g.Namespace, 0, nil, byName))
	} else {
		w.jobs = w.run(ctx, dynamicinformer.NewFilteredDynamicInformer(g.cluster.Dynamic, g.kind.Resource(), g.Namespace, 0, nil, byName).Informer())
	}
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
		case ok && w.gang.isMember(pod):
			s.pods = append(s.pods, *pod)
		case ok:
			s.others++
		}
	}
	sortPods(s.pods)
	for _, obj := range w.jobs.GetStore().List() {
		if job, ok := obj.(metav1.Object); ok && (w.gang.job == "" || job.GetUID() == w.gang.job) {
			s.job = &jobState{failed: w.gang.failed(job), suspended: isSuspended(job)}
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

// failed is the reason and message of a failed job; empty if it has not failed.
func (g *Gang) failed(job metav1.Object) string {
	switch job := job.(type) {
	case *batchv1.Job:
		if c := jobCondition(job, batchv1.JobFailed); c != nil {
			return c.Reason + ": " + c.Message
		}
	case *unstructured.Unstructured:
		if reason, failed := g.kind.Failed(job); failed {
			return reason
		}
	}
	return ""
}

// isSuspended reports whether the controller of a job may create no pods.
func isSuspended(job metav1.Object) bool {
	switch job := job.(type) {
	case *batchv1.Job:
		return suspended(job)
	case *unstructured.Unstructured:
		for _, path := range [][]string{{"spec", "suspend"}, {"spec", "runPolicy", "suspend"}} { // the latter is an MPIJob's
			if on, _, err := unstructured.NestedBool(job.Object, path...); err == nil && on {
				return true
			}
		}
	}
	return false
}

// owns reports whether a group object is the gang's: by its name, or owned by its job.
func (g *Gang) owns(group *unstructured.Unstructured) bool {
	if group.GetName() == g.Spec.Name {
		return true
	}
	return slices.ContainsFunc(group.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
		return o.Name == g.Spec.Name && (g.job == "" || o.UID == g.job)
	})
}

// members are the current pods of the gang's Job, one for each index, without pods that are
// being deleted or were replaced.
func members(pods []corev1.Pod) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(pods))
	at := map[int]int{} // in out, by index
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		index := Index(pod)
		had, known := at[index]
		switch {
		case index < 0 || !known:
			at[index] = len(out)
			out = append(out, pod)
		case out[had].CreationTimestamp.Before(&pod.CreationTimestamp):
			out[had] = pod
		}
	}
	return out
}

// isMember reports whether a pod is of the gang's job, and not of an earlier one of its name. The
// controller of a pod is the job only if the kind is Kubernetes' own.
func (g *Gang) isMember(pod *corev1.Pod) bool {
	if g.kind != nil {
		return !pod.CreationTimestamp.Before(&g.created)
	}
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
	if pod.Spec.NodeName == "" || !g.isMember(pod) {
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
	exist := make(map[types.UID]bool, len(pods))
	for i := range pods {
		exist[pods[i].UID] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid := range g.everBound {
		if !exist[uid] {
			n++
		}
	}
	return n
}

// replaced is how many placed pods of a gang with a pod of every index have a successor.
func (g *Gang) replaced(pods []corev1.Pod) int {
	n := g.vanished(pods)
	current := map[int]types.UID{}
	for _, pod := range members(pods) {
		current[Index(pod)] = pod.UID
	}
	for i := range pods {
		if uid, successor := current[Index(&pods[i])]; successor && uid != pods[i].UID {
			n++
		}
	}
	return n
}

// sortPods sorts by index, then by name.
func sortPods(pods []corev1.Pod) {
	type place struct {
		index int
		pod   corev1.Pod
	}
	places := make([]*place, 0, len(pods)) // pods are large: comparisons and swaps do not copy them
	for i := range pods {
		places = append(places, &place{Index(&pods[i]), pods[i]})
	}
	slices.SortFunc(places, func(a, b *place) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	for i, p := range places {
		pods[i] = p.pod
	}
}

// Index is the index of a pod in its job; -1 if it has none.
func Index(pod *corev1.Pod) int {
	for _, text := range []string{pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Labels[volcanoIndexLabel]} {
		if i, err := strconv.Atoi(text); err == nil {
			return i
		}
	}
	switch pod.Labels[mpiRoleLabel] {
	case mpiLauncher:
		return 0
	case mpiWorker:
		if i, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:]); err == nil {
			return i + 1
		}
	}
	return -1
}
