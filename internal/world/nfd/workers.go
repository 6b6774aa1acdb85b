package nfd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/operand"
)

// Config is the cluster whose hosts are scanned.
type Config struct {
	Dynamic dynamic.Interface
	World   *world.World
	// Pods and Nodes are informers of the cluster.
	Pods, Nodes cache.SharedIndexInformer
	Operands    *operand.Operands
	Log         *slog.Logger
}

// Workers write NodeFeatures.
type Workers struct {
	config Config
	pods   corelisters.PodNamespaceLister
	nodes  corelisters.NodeLister
	poke   chan struct{}

	mu sync.Mutex
	// written has the last specification of each host.
	written map[string]map[string]any
	// writers are the pods that wrote them: a NodeFeature ends with its pod.
	writers map[string]types.UID
	failed  error
}

// New returns the workers; Run follows the world.
func New(cfg Config) *Workers {
	w := &Workers{
		config: cfg, poke: make(chan struct{}, 1), written: map[string]map[string]any{}, writers: map[string]types.UID{},
		pods:  corelisters.NewPodLister(cfg.Pods.GetIndexer()).Pods(operand.Namespace),
		nodes: corelisters.NewNodeLister(cfg.Nodes.GetIndexer()),
	}
	// AddEventHandler fails only on a stopped informer.
	_, _ = cfg.Pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: w.changed, UpdateFunc: func(_, obj any) { w.changed(obj) }, DeleteFunc: w.changed,
	})
	return w
}

func (w *Workers) changed(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok && pod.Namespace != operand.Namespace {
		return
	}
	select {
	case w.poke <- struct{}{}:
	default: // already requested
	}
}

// Run writes NodeFeatures until ctx ends.
func (w *Workers) Run(ctx context.Context) {
	notices, cancel := w.config.World.Subscribe()
	defer cancel()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		if err := w.sync(ctx); err != nil && ctx.Err() == nil {
			w.config.Log.Debug("cannot write NodeFeatures", "err", err) // their definition may not exist yet
		}
		select {
		case <-ctx.Done():
			return
		case <-notices:
		case <-w.poke:
		case <-tick.C:
		}
	}
}

func (w *Workers) sync(ctx context.Context) error {
	state := w.config.World.Recent()
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, host := range state.Nodes {
		pod := w.pod(host.Name)
		if pod == nil {
			continue
		}
		spec := w.spec(state, host)
		if w.writers[host.Name] == pod.UID && apiequality.Semantic.DeepEqual(w.written[host.Name], spec) {
			continue
		}
		if err := w.write(ctx, pod, host, spec); err != nil {
			errs = append(errs, err)
			continue
		}
		w.written[host.Name], w.writers[host.Name] = spec, pod.UID
	}
	w.failed = errors.Join(errs...)
	return w.failed
}

// spec is what the worker of a host reports.
func (w *Workers) spec(state world.State, host world.Node) map[string]any {
	app := operand.Features
	discovered := w.config.Operands.Ready(host.Name, app)
	if before, ok := w.written[host.Name]["labels"].(map[string]any); ok && w.config.Operands.Exists(host.Name, app) {
		_, had := before["nvidia.com/gpu.count"]
		discovered = discovered || had // its file remains while its pod does
	}
	return map[string]any{"labels": labelsOf(state, host, discovered), "features": features(state, host)}
}

// pod returns the ready worker pod of a host, or nil.
func (w *Workers) pod(host string) *corev1.Pod {
	pods, err := w.pods.List(labels.SelectorFromSet(labels.Set{"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}))
	if err != nil {
		return nil // of a cache: never fails
	}
	i := slices.IndexFunc(pods, func(p *corev1.Pod) bool {
		return p.Spec.NodeName == host && p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	})
	if i < 0 {
		return nil
	}
	return pods[i]
}

// write applies a NodeFeature as its worker does: owned by its pod.
func (w *Workers) write(ctx context.Context, pod *corev1.Pod, host world.Node, spec map[string]any) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeature",
		"metadata": map[string]any{
			"name": host.Name, "namespace": operand.Namespace,
			"labels": map[string]any{"nfd.node.kubernetes.io/node-name": host.Name},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "v1", "kind": "Pod", "name": pod.Name, "uid": string(pod.UID),
			}},
		},
		"spec": spec,
	}}
	resource := schema.GroupVersionResource{Group: "nfd.k8s-sigs.io", Version: "v1alpha1", Resource: "nodefeatures"}
	_, err := w.config.Dynamic.Resource(resource).Namespace(operand.Namespace).Apply(ctx, host.Name, object, metav1.ApplyOptions{FieldManager: "nfd-worker", Force: true})
	if err != nil {
		return fmt.Errorf("write NodeFeature of %s: %w", host.Name, err)
	}
	return nil
}

// Settled returns nil when every node has the labels that its worker reports.
func (w *Workers) Settled() error {
	state := w.config.World.Recent()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	for _, host := range state.Nodes {
		want, ok := w.spec(state, host)["labels"].(map[string]any)
		node, err := w.nodes.Get(host.Name)
		if err != nil || !ok {
			return fmt.Errorf("node %s is not registered yet", host.Name)
		}
		for key, value := range want {
			if node.Labels[key] != value {
				return fmt.Errorf("node %s has label %s=%q, not yet %q", host.Name, key, node.Labels[key], value)
			}
		}
		if gpu := prefix + "pci-" + nvidia + ".present"; want[gpu] == nil && node.Labels[gpu] != "" {
			return fmt.Errorf("node %s still has label %s", host.Name, gpu)
		}
	}
	return nil
}
