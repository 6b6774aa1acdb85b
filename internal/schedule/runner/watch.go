package runner

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1alpha2"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// watches update the views of all scenarios.
type watches struct {
	informers []cache.SharedIndexInformer
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu    sync.RWMutex
	views map[string]*view
}

// watch starts the watches for all kinds of scenario objects.
func watch(ctx context.Context, client kubernetes.Interface) (*watches, error) {
	w := &watches{views: map[string]*view{}}
	own := func(o *metav1.ListOptions) { o.LabelSelector = LabelScenario }
	const all = metav1.NamespaceAll
	for _, err := range []error{
		on(w, coreinformers.NewFilteredNodeInformer(client, 0, nil, own), func(v *view, n *corev1.Node) { v.putNode(readNode(n)) }, func(v *view, n *corev1.Node) { v.dropNode(readNode(n)) }),
		on(w, coreinformers.NewFilteredPodInformer(client, all, 0, nil, own), func(v *view, p *corev1.Pod) { v.putPod(readPod(p)) }, func(v *view, p *corev1.Pod) { v.dropPod(readPod(p)) }),
		on(w, appsinformers.NewFilteredReplicaSetInformer(client, all, 0, nil, own), func(v *view, s *appsv1.ReplicaSet) { v.putWorkload(s.Labels[labelWorkload], readReplicaSet(s)) }, dropWorkload[*appsv1.ReplicaSet]),
		on(w, appsinformers.NewFilteredStatefulSetInformer(client, all, 0, nil, own), func(v *view, s *appsv1.StatefulSet) { v.putWorkload(s.Labels[labelWorkload], readStatefulSet(s)) }, dropWorkload[*appsv1.StatefulSet]),
		on(w, appsinformers.NewFilteredDaemonSetInformer(client, all, 0, nil, own), func(v *view, d *appsv1.DaemonSet) { v.putWorkload(d.Labels[labelWorkload], readDaemonSet(d)) }, dropWorkload[*appsv1.DaemonSet]),
		on(w, batchinformers.NewFilteredJobInformer(client, all, 0, nil, own), func(v *view, j *batchv1.Job) { v.putWorkload(j.Labels[labelWorkload], readJob(j)) }, dropWorkload[*batchv1.Job]),
		on(w, schedulinginformers.NewFilteredPodGroupInformer(client, all, 0, nil, own), func(v *view, g *schedulingv1alpha2.PodGroup) { v.putGang(readPodGroup(g)) }, func(*view, *schedulingv1alpha2.PodGroup) {}),
	} {
		if err != nil {
			return nil, fmt.Errorf("watch the control plane: %w", err)
		}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	synced := make([]cache.DoneChecker, len(w.informers))
	for i, informer := range w.informers {
		synced[i] = informer.HasSyncedChecker()
		w.running.Go(func() { informer.RunWithContext(running) })
	}
	if !cache.WaitFor(ctx, "", synced...) {
		w.close()
		return nil, fmt.Errorf("watch the control plane: %w", context.Cause(ctx))
	}
	return w, nil
}

// on adds an informer, which forwards events to the view of the object's scenario.
func on[T metav1.Object](w *watches, informer cache.SharedIndexInformer, put, drop func(*view, T)) error {
	notify := func(obj any, f func(*view, T)) {
		if o, ok := obj.(T); ok {
			if v := w.view(o.GetLabels()[LabelScenario]); v != nil {
				f(v, o)
			}
		}
	}
	w.informers = append(w.informers, informer)
	if err := informer.SetTransform(trimmed); err != nil {
		return err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { notify(obj, put) },
		UpdateFunc: func(_, obj any) { notify(obj, put) },
		DeleteFunc: func(obj any) {
			if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = lost.Obj
			}
			notify(obj, drop)
		},
	})
	return err
}

func dropWorkload[T metav1.Object](v *view, o T) { v.dropWorkload(o.GetLabels()[labelWorkload]) }

// trimmed drops the large unused fields of an object.
func trimmed(obj any) (any, error) {
	if o, err := meta.Accessor(obj); err == nil {
		o.SetManagedFields(nil)
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName, SchedulerName: o.Spec.SchedulerName}
	case *appsv1.DaemonSet:
		o.Spec.Template = corev1.PodTemplateSpec{}
	case *appsv1.ReplicaSet:
		o.Spec.Template = corev1.PodTemplateSpec{}
	case *appsv1.StatefulSet:
		o.Spec.Template = corev1.PodTemplateSpec{}
	case *batchv1.Job:
		o.Spec.Template = corev1.PodTemplateSpec{}
	}
	return obj, nil
}

func (w *watches) add(v *view) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views[v.layout.id] = v
}

func (w *watches) remove(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, id)
}

func (w *watches) view(id string) *view {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.views[id]
}

// close stops the watches and waits for them.
func (w *watches) close() {
	w.stop()
	w.running.Wait()
}
