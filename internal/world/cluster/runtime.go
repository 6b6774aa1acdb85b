package cluster

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
)

// runtime simulates container runtime, device plugin and the kubelet's side of DRA on the world's
// GPU nodes. It has a worker for every pod there that holds GPUs or runs a known program.
type runtime struct {
	life   context.Context //nolint:containedctx // cancelled by stop
	cancel context.CancelFunc
	client kubernetes.Interface
	dyn    dynamic.Interface
	world  *world.World
	dir    string
	log    *slog.Logger
	gangs  *gangs
	nodes  map[string]bool // the world's GPU nodes
	hosts  map[string]bool // all its nodes
	// program returns the path of firstlight; nil: the lab has none.
	program func(context.Context) (string, error)
	names   secretNames // of kwok's objects for pods
	pods    cache.Store

	wg      sync.WaitGroup
	mu      sync.Mutex
	stopped bool
	workers map[types.UID]*worker
}

func newRuntime(ctx context.Context, client kubernetes.Interface, dyn dynamic.Interface, cfg Config, pods cache.SharedIndexInformer) *runtime {
	life, cancel := context.WithCancel(ctx)
	r := &runtime{
		life: life, cancel: cancel, client: client, dyn: dyn, world: cfg.World, dir: cfg.Dir, log: cfg.Log, program: cfg.Firstlight, pods: pods.GetStore(),
		gangs: newGangs(), nodes: map[string]bool{}, hosts: map[string]bool{}, names: newSecretNames(), workers: map[types.UID]*worker{},
	}
	for _, n := range cfg.World.Recent().GPUNodes() {
		r.nodes[n.Name] = true
	}
	for _, n := range cfg.World.Recent().Nodes {
		r.hosts[n.Name] = true
	}
	// AddEventHandler fails only on a stopped informer.
	_, _ = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.observe(obj) },
		UpdateFunc: func(_, obj any) { r.observe(obj) },
		DeleteFunc: func(obj any) { r.deleted(obj) },
	})
	return r
}

// stop stops every worker. The pods remain.
func (r *runtime) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.cancel()
	r.wg.Wait()
}

// observe starts a worker for a pod that needs one, or updates it.
func (r *runtime) observe(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok || !r.nodes[pod.Spec.NodeName] && (!r.hosts[pod.Spec.NodeName] || !runsAnywhere(pod)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workers[pod.UID]
	if w == nil {
		if r.stopped || pod.DeletionTimestamp != nil || isEnded(pod) || !needsWorker(pod) {
			return
		}
		w = newWorker(r, pod)
		if err := w.makeLogs(); err != nil {
			w.cancel()
			r.log.Error("pod", "namespace", pod.Namespace, "pod", pod.Name, "err", err) // the next update tries again
			return
		}
		r.workers[pod.UID] = w
		r.wg.Go(func() {
			w.run()
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.workers, pod.UID)
		})
		return
	}
	w.update(pod)
}

// deleted stops the worker of a deleted pod.
func (r *runtime) deleted(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.workers[pod.UID]; w != nil {
		w.cancel()
	}
}

// find returns the container with a log, or nil.
func (r *runtime) find(namespace, pod, container string) logged {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.workers {
		if w.pod.Namespace != namespace || w.pod.Name != pod {
			continue
		}
		if w.container.Name == container {
			return w
		}
		for _, s := range w.sidecars {
			if s.container.Name == container {
				return s
			}
		}
	}
	return nil
}

// has reports whether the runtime has a pod of that name.
func (r *runtime) has(namespace, pod string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.workers {
		if w.pod.Namespace == namespace && w.pod.Name == pod {
			return true
		}
	}
	return false
}

// needsWorker reports whether the pod holds GPUs or runs a known program.
func needsWorker(pod *corev1.Pod) bool {
	if gpusOf(pod) > 0 || len(pod.Spec.ResourceClaims) > 0 {
		return true
	}
	for i, c := range pod.Spec.Containers {
		if k := recognise(c); i == 0 && k != kindOther || k == kindDevices {
			return true
		}
	}
	return false
}

// runsAnywhere reports whether the pod runs firstlight itself or a part of Ray, which any node does.
func runsAnywhere(pod *corev1.Pod) bool {
	if len(pod.Spec.Containers) == 0 {
		return false
	}
	k := recognise(pod.Spec.Containers[0])
	return k == kindFirstlight || k == kindRay
}

func isEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// gpusFor returns the GPUs that a pod's devices are on: of MIG devices, several are on one.
func (r *runtime) gpusFor(pod *corev1.Pod) int {
	n := gpusOf(pod)
	if host, ok := r.world.Recent().Node(pod.Spec.NodeName); ok && host.MIG != "" {
		return (n + world.MIGDevices - 1) / world.MIGDevices
	}
	return n
}

// gpusOf returns the GPU limit of a pod's containers.
func gpusOf(pod *corev1.Pod) int {
	n := 0
	for _, c := range pod.Spec.Containers {
		if q, ok := c.Resources.Limits[gpuResource]; ok {
			n += int(q.Value())
		}
	}
	return n
}
