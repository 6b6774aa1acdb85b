package operand

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
)

// Namespace of the operator and its operands.
const Namespace = "gpu-operator"

// GKE's own device plugin: its namespace, and the label of its pods
// (github.com/GoogleCloudPlatform/container-engine-accelerators, cmd/nvidia_gpu/device-plugin.yaml).
const providerNamespace = "kube-system"

var providerPlugin = labels.Set{"k8s-app": "nvidia-gpu-device-plugin"}

// Concerns reports whether a pod may change what a node offers.
func Concerns(pod *corev1.Pod) bool {
	return pod.Namespace == Namespace || pod.Namespace == providerNamespace && labels.SelectorFromSet(providerPlugin).Matches(labels.Set(pod.Labels))
}

// The operands' names: the app labels of their pods and the names of their DaemonSets.
const (
	Driver       = "nvidia-driver-daemonset"
	Toolkit      = "nvidia-container-toolkit-daemonset"
	DevicePlugin = "nvidia-device-plugin-daemonset"
	DCGM         = "nvidia-dcgm"
	Exporter     = "nvidia-dcgm-exporter"
	Features     = "gpu-feature-discovery"
	MIGManager   = "nvidia-mig-manager"
	Validator    = "nvidia-operator-validator"
)

// driverComponent is the label of the driver's pods and DaemonSets, also of those of NVIDIADrivers, whose
// app labels and names have a hash.
var driverComponent = labels.Set{"app.kubernetes.io/component": "nvidia-driver"}

// appOf is the operand of a pod; empty: none.
func appOf(p *corev1.Pod) string {
	if labels.SelectorFromSet(driverComponent).Matches(labels.Set(p.Labels)) {
		return Driver
	}
	return p.Labels["app"]
}

// byNode is the index of pods by their nodes: a list of all pods for each operand of each node costs the
// square of the number of nodes. The informer is shared: its indexes are named after their packages.
const byNode = "operand/node"

var indexers = cache.Indexers{byNode: func(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("invalid object of type %T: must be a pod", obj)
	}
	return []string{pod.Spec.NodeName}, nil
}}

// Operands are the operands' pods.
type Operands struct {
	client kubernetes.Interface
	world  *world.World
	pods   corelisters.PodNamespaceLister
	// index has the pods of the cluster by their nodes.
	index cache.Indexer
	log   *slog.Logger
	poke  chan struct{}

	mu sync.Mutex
	// installing has the time at which a driver's container was first seen running.
	installing map[types.UID]time.Time
}

// New returns the operands' pods; Run follows them. The informer has the pods of the cluster; New adds an index.
func New(client kubernetes.Interface, w *world.World, pods cache.SharedIndexInformer, log *slog.Logger) (*Operands, error) {
	o := &Operands{
		client: client, world: w, log: log, poke: make(chan struct{}, 1), installing: map[types.UID]time.Time{},
		pods: corelisters.NewPodLister(pods.GetIndexer()).Pods(Namespace), index: pods.GetIndexer(),
	}
	changed := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Namespace != Namespace {
			return
		}
		select {
		case o.poke <- struct{}{}:
		default: // already requested
		}
	}
	if err := pods.AddIndexers(indexers); err != nil {
		return nil, fmt.Errorf("index pods by their nodes: %w", err)
	}
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed,
	})
	if err != nil {
		return nil, fmt.Errorf("follow the operands' pods: %w", err)
	}
	return o, nil
}

// Run follows the pods and the world until ctx ends.
func (o *Operands) Run(ctx context.Context) {
	notices, cancel := o.world.Subscribe()
	defer cancel()
	tick := time.NewTicker(driverInstall / 4)
	defer tick.Stop()
	resync := time.NewTicker(5 * time.Second)
	defer resync.Stop()
	for {
		err := errors.Join(o.hold(ctx), o.images(ctx))
		if err != nil && ctx.Err() == nil {
			o.log.Warn("cannot sync the operands' pods", "err", err)
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-notices:
				waiting = false
			case <-o.poke:
				waiting = false
			case <-resync.C:
				waiting = false
			case <-tick.C:
				waiting = err == nil && !o.busy()
			}
		}
	}
}

// busy reports whether a driver is being installed.
func (o *Operands) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.installing) > 0
}

// Ready reports whether a node has a ready pod of an operand.
func (o *Operands) Ready(node, app string) bool {
	return slices.ContainsFunc(o.on(node, app), isReady)
}

// OffersGPUs reports whether a node has a ready device plugin: the operator's, or the provider's own.
func (o *Operands) OffersGPUs(node string) bool {
	return o.Ready(node, DevicePlugin) || slices.ContainsFunc(o.selected(node, providerNamespace, providerPlugin), isReady)
}

// Exists reports whether a node has a pod of an operand.
func (o *Operands) Exists(node, app string) bool { return len(o.on(node, app)) > 0 }

func (o *Operands) on(node, app string) []*corev1.Pod {
	pods := o.selected(node, Namespace, labels.Set{"app": app})
	if app == Driver && len(pods) == 0 {
		pods = o.selected(node, Namespace, driverComponent)
	}
	return pods
}

// selected are the pods of a node with labels, without those that are being deleted.
func (o *Operands) selected(node, namespace string, of labels.Set) []*corev1.Pod {
	found, err := o.index.ByIndex(byNode, node)
	if err != nil {
		return nil // unreachable: it fails only without the index, which New has added
	}
	selector := labels.SelectorFromSet(of)
	var out []*corev1.Pod
	for _, obj := range found {
		if p, ok := obj.(*corev1.Pod); ok && p.Namespace == namespace && selector.Matches(labels.Set(p.Labels)) && p.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	return out
}

// Settled returns nil when every pod matches the world's faults and has its image ID.
func (o *Operands) Settled() error {
	changes, err := o.holds(time.Now())
	if err != nil {
		return err
	}
	for _, c := range changes {
		return fmt.Errorf("pod %s is not up to date yet", c.pod.Name)
	}
	if o.busy() {
		return errors.New("a driver is being installed")
	}
	outdated, err := o.otherImages()
	if err != nil {
		return err
	}
	if len(outdated) > 0 {
		return fmt.Errorf("pod %s does not have its image ID yet", outdated[0].Name)
	}
	pods, err := o.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list operand pods: %w", err)
	}
	for _, p := range pods {
		if h := p.Annotations[holdAnnotation]; p.Labels["app"] != "" && p.Spec.NodeName != "" && isReady(p) != (h == "") {
			return fmt.Errorf("pod %s is held %q, and its readiness does not match yet", p.Name, h)
		}
	}
	return nil
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
