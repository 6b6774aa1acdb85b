package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/operand"
)

// holdAnnotation makes the lab's kwok stages hold a node or pod.
const holdAnnotation = "firstlight.dev/world-hold"

// Values of holdAnnotation on a pod. The stages start a pending pod that is held as ready, and not one that is held as
// creating.
const (
	holdReady    = "ready"
	holdCreating = "creating"
)

// nodes keeps the Node objects up to date with the world's hosts.
type nodes struct {
	client   kubernetes.Interface
	world    *world.World
	informer cache.SharedIndexInformer
	changed  *changes
	log      *slog.Logger
	// kubeletPort is the port of the nodes' kubelet API; 0: kwok's.
	kubeletPort int32
	// images are those that the kubelets report.
	images []corev1.ContainerImage
	// operands are of an external GPU Operator; nil: the world imitates it.
	operands *operand.Operands
	// version is that of the API server, and of every healthy kubelet.
	version string
}

// imagesOf are images as a kubelet reports them.
func imagesOf(names []string) []corev1.ContainerImage {
	var out []corev1.ContainerImage
	for _, name := range names {
		const size = 8 << 30 // of a CUDA image
		out = append(out, corev1.ContainerImage{Names: []string{name}, SizeBytes: size})
	}
	return out
}

func newNodes(client kubernetes.Interface, w *world.World, informer cache.SharedIndexInformer, log *slog.Logger) *nodes {
	n := &nodes{client: client, world: w, informer: informer, changed: newChanges(), log: log}
	changed := func(obj any) {
		if name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil { // nodes have no namespace
			n.changed.add(name)
		}
	}
	// AddEventHandler fails only on a stopped informer.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed,
	})
	return n
}

// register creates missing nodes. A node is held until its resources and addresses are set, so
// that kwok never processes it without them.
func (n *nodes) register(ctx context.Context) error {
	state := n.world.Recent()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range state.Nodes {
		group.Go(func() error {
			return poll.Until(ctx, 200*time.Millisecond, "node "+state.Nodes[i].Name+" to be registered", func(ctx context.Context) error {
				return n.registerOne(ctx, state, state.Nodes[i])
			})
		})
	}
	return group.Wait()
}

func (n *nodes) registerOne(ctx context.Context, state world.State, host world.Node) error {
	api := n.client.CoreV1().Nodes()
	node := n.desired(state, host)
	node.Annotations[holdAnnotation] = "not-ready"
	if _, err := api.Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create node %s: %w", host.Name, err)
	}
	return n.sync(ctx, state, host)
}

// run syncs until ctx ends: a node when its object changes, all of them when the world does.
func (n *nodes) run(ctx context.Context) {
	notices, cancel := n.world.Subscribe()
	defer cancel()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	wanted := func(string) bool { return true }
	for {
		if err := n.syncSome(ctx, wanted); err != nil && ctx.Err() == nil {
			n.log.Warn("cannot sync nodes", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-n.changed.some:
			names := n.changed.take()
			wanted = func(name string) bool { return names[name] }
			continue
		case <-notices:
		case <-tick.C:
		}
		wanted = func(string) bool { return true }
	}
}

func (n *nodes) syncSome(ctx context.Context, wanted func(name string) bool) error {
	state := n.world.Recent()
	var errs []error
	for _, host := range state.Nodes {
		if !wanted(host.Name) {
			continue
		}
		have, ok := n.get(host.Name)
		if ok && n.upToDate(have, n.desired(state, host)) {
			continue
		}
		if !ok {
			errs = append(errs, n.registerOne(ctx, state, host))
			continue
		}
		errs = append(errs, n.sync(ctx, state, host))
	}
	return errors.Join(errs...)
}

// desired is a host's Node object with our kubelet port.
func (n *nodes) desired(state world.State, host world.Node) *corev1.Node {
	node := desiredNode(state, host)
	if n.operands != nil {
		n.asOperated(node, host)
	}
	asInstalled(node, state, host, n.version)
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = n.kubeletPort
	node.Status.Images = n.images
	return node
}

// owned reports whether the world manages a label of nodes.
func (n *nodes) owned(label string) bool { return n.operands == nil && ownedLabel(label) }

func (n *nodes) get(name string) (*corev1.Node, bool) {
	obj, ok, err := n.informer.GetStore().GetByKey(name)
	if err != nil || !ok {
		return nil, false
	}
	node, ok := obj.(*corev1.Node)
	return node, ok
}

// sync updates one node's status, then its labels.
func (n *nodes) sync(ctx context.Context, state world.State, host world.Node) error {
	api := n.client.CoreV1().Nodes()
	want := n.desired(state, host)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := api.Get(ctx, host.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !statusUpToDate(node, want) {
			setStatus(node, want)
			if node, err = api.UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		if n.metaUpToDate(node, want) {
			return nil
		}
		setMeta(node, want, n.owned)
		_, err = api.Update(ctx, node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("sync node %s: %w", host.Name, err)
	}
	return nil
}

// settled returns nil when every node is Ready, up to date and has the taint for its disk
// pressure.
func (n *nodes) settled() error {
	state := n.world.Recent()
	for _, host := range state.Nodes {
		have, ok := n.get(host.Name)
		if !ok || !n.upToDate(have, n.desired(state, host)) {
			return fmt.Errorf("node %s is not registered yet", host.Name)
		}
		ready := false
		for _, c := range have.Status.Conditions {
			ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		if !ready {
			return fmt.Errorf("node %s is not Ready yet", host.Name)
		}
		tainted := slices.ContainsFunc(have.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeDiskPressure })
		if tainted != host.DiskPressure {
			return fmt.Errorf("node %s: taint %s is %v, not yet %v", host.Name, corev1.TaintNodeDiskPressure, tainted, host.DiskPressure)
		}
	}
	return nil
}

func (n *nodes) upToDate(have, want *corev1.Node) bool {
	return statusUpToDate(have, want) && n.metaUpToDate(have, want)
}

func statusUpToDate(have, want *corev1.Node) bool {
	next := have.DeepCopy()
	setStatus(next, want)
	return apiequality.Semantic.DeepEqual(have.Status, next.Status)
}

func (n *nodes) metaUpToDate(have, want *corev1.Node) bool {
	next := have.DeepCopy()
	setMeta(next, want, n.owned)
	return apiequality.Semantic.DeepEqual(have.Labels, next.Labels) && apiequality.Semantic.DeepEqual(have.Annotations, next.Annotations) &&
		apiequality.Semantic.DeepEqual(have.Spec.Taints, next.Spec.Taints)
}
