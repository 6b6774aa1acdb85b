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
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// watches keep the pictures of all cells.
type watches struct {
	factory informers.SharedInformerFactory
	stop    context.CancelFunc

	mu    sync.RWMutex
	views map[string]*view
}

// watch begins to watch all kinds that cells are made of.
func watch(ctx context.Context, client kubernetes.Interface) (*watches, error) {
	w := &watches{views: map[string]*view{}}
	ours := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(stripped),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = LabelCell }))
	w.factory = ours
	for _, err := range []error{
		on(w, ours.Core().V1().Nodes().Informer(), func(v *view, n *corev1.Node) { v.putNode(lookAtNode(n)) }, func(v *view, n *corev1.Node) { v.dropNode(lookAtNode(n)) }),
		on(w, ours.Core().V1().Pods().Informer(), func(v *view, p *corev1.Pod) { v.putPod(lookAtPod(p)) }, func(v *view, p *corev1.Pod) { v.dropPod(lookAtPod(p)) }),
		on(w, ours.Apps().V1().ReplicaSets().Informer(), func(v *view, s *appsv1.ReplicaSet) { v.putWorkload(s.Labels[labelOf], lookAtReplicaSet(s)) }, dropWorkload[*appsv1.ReplicaSet]),
		on(w, ours.Apps().V1().StatefulSets().Informer(), func(v *view, s *appsv1.StatefulSet) { v.putWorkload(s.Labels[labelOf], lookAtStatefulSet(s)) }, dropWorkload[*appsv1.StatefulSet]),
		on(w, ours.Apps().V1().DaemonSets().Informer(), func(v *view, d *appsv1.DaemonSet) { v.putWorkload(d.Labels[labelOf], lookAtDaemonSet(d)) }, dropWorkload[*appsv1.DaemonSet]),
		on(w, ours.Batch().V1().Jobs().Informer(), func(v *view, j *batchv1.Job) { v.putWorkload(j.Labels[labelOf], lookAtJob(j)) }, dropWorkload[*batchv1.Job]),
		on(w, ours.Scheduling().V1alpha2().PodGroups().Informer(), func(v *view, g *schedulingv1alpha2.PodGroup) { v.putGang(lookAtPodGroup(g)) }, func(*view, *schedulingv1alpha2.PodGroup) {}),
	} {
		if err != nil {
			return nil, fmt.Errorf("watch the control plane: %w", err)
		}
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	ours.StartWithContext(running)
	for kind, synced := range ours.WaitForCacheSync(ctx.Done()) {
		if !synced {
			w.close()
			return nil, fmt.Errorf("watch %s: %w", kind, context.Cause(ctx))
		}
	}
	return w, nil
}

// on tells the views of an object's cell what became of it.
func on[T metav1.Object](w *watches, informer cache.SharedIndexInformer, put, drop func(*view, T)) error {
	tell := func(obj any, f func(*view, T)) {
		if o, ok := obj.(T); ok {
			if v := w.view(o.GetLabels()[LabelCell]); v != nil {
				f(v, o)
			}
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { tell(obj, put) },
		UpdateFunc: func(_, obj any) { tell(obj, put) },
		DeleteFunc: func(obj any) {
			if lost, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = lost.Obj
			}
			tell(obj, drop)
		},
	})
	return err
}

func dropWorkload[T metav1.Object](v *view, o T) { v.dropWorkload(o.GetLabels()[labelOf]) }

// stripped leaves out of an object what nobody here reads and takes most of its room.
func stripped(obj any) (any, error) {
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

// close ends the watches and returns when they have ended.
func (w *watches) close() {
	w.stop()
	w.factory.Shutdown()
}
