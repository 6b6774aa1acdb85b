package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
)

// driver keeps what NVIDIA's DRA driver publishes: its DeviceClass, and a
// ResourceSlice a GPU node.
type driver struct {
	client  kubernetes.Interface
	world   *world.World
	nodes   cache.SharedIndexInformer
	slices  cache.SharedIndexInformer
	changed *broadcast
	log     *slog.Logger
}

func newDriver(client kubernetes.Interface, w *world.World, nodes cache.SharedIndexInformer, log *slog.Logger) *driver {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = "spec.driver=" + draDriver
	}))
	d := &driver{client: client, world: w, nodes: nodes, slices: factory.Resource().V1().ResourceSlices().Informer(), changed: newBroadcast(), log: log}
	ring := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { d.changed.notify() },
		UpdateFunc: func(_, _ any) { d.changed.notify() },
		DeleteFunc: func(any) { d.changed.notify() },
	}
	// Adding a handler fails only on an informer that has stopped.
	_, _ = d.slices.AddEventHandler(ring)
	// Of nodes, only which there are: their status changes all the time.
	_, _ = d.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: ring.AddFunc, DeleteFunc: ring.DeleteFunc})
	return d
}

// run keeps class and slices right until ctx ends.
func (d *driver) run(ctx context.Context) {
	if !cache.WaitForCacheSync(ctx.Done(), d.nodes.HasSynced, d.slices.HasSynced) {
		return
	}
	notices, cancel := d.world.Subscribe()
	defer cancel()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for look := true; ; {
		changed := d.changed.wait()
		var err error
		if look { // nobody tells of the class
			err = d.syncClass(ctx)
		}
		if err = errors.Join(err, d.syncSlices(ctx)); err != nil && ctx.Err() == nil {
			d.log.Warn("keep resource slices", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-notices:
			look = false
		case <-changed:
			look = false
		case <-tick.C:
			look = true
		}
	}
}

func (d *driver) syncSlices(ctx context.Context) error {
	state := d.world.State()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, host := range state.GPUNodes() {
		if want, have, ok := d.look(state, host); !ok {
			group.Go(func() error { return d.put(ctx, have, want) })
		}
	}
	return group.Wait()
}

func (d *driver) syncClass(ctx context.Context) error {
	api := d.client.ResourceV1().DeviceClasses()
	_, err := api.Get(ctx, draDriver, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(ctx, deviceClass(), metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("keep device class %s: %w", draDriver, err)
	}
	return nil
}

// look says what a host's slice is to be and what it is, either nil for none,
// and whether that is the same. A host that is no node yet has none.
func (d *driver) look(state world.State, host world.Node) (want, have *resourcev1.ResourceSlice, ok bool) {
	if obj, there, err := d.nodes.GetStore().GetByKey(host.Name); err == nil && there {
		if node, isNode := obj.(*corev1.Node); isNode {
			want = desiredSlice(state, host, node.UID)
		}
	}
	if obj, there, err := d.slices.GetStore().GetByKey(sliceName(host.Name)); err == nil && there {
		have, _ = obj.(*resourcev1.ResourceSlice)
	}
	return want, have, sameSlice(have, want)
}

// put makes a slice what it is to be. One of a node of before is made anew.
func (d *driver) put(ctx context.Context, have, want *resourcev1.ResourceSlice) error {
	api := d.client.ResourceV1().ResourceSlices()
	var err error
	switch {
	case have == nil:
		if _, err = api.Create(ctx, want, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			err = nil // the informer will show it
		}
	case want == nil, !apiequality.Semantic.DeepEqual(have.OwnerReferences, want.OwnerReferences):
		if err = api.Delete(ctx, have.Name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
			err = nil
		}
	default:
		next := have.DeepCopy()
		next.Spec.Devices = want.Spec.Devices
		next.Spec.Pool.Generation++ // of a pool, the highest generation counts
		if _, err = api.Update(ctx, next, metav1.UpdateOptions{}); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			err = nil // the informer shows what it is now
		}
	}
	if err != nil {
		return fmt.Errorf("publish resource slice of %s: %w", nodeOfSlice(have, want), err)
	}
	return nil
}

// settled says nil when every slice is as the hardware is.
func (d *driver) settled() error {
	if !d.slices.HasSynced() {
		return errors.New("resource slices are not listed yet")
	}
	state := d.world.State()
	for _, host := range state.GPUNodes() {
		if _, _, ok := d.look(state, host); !ok {
			return fmt.Errorf("the resource slice of %s is not published yet", host.Name)
		}
	}
	return nil
}

func sameSlice(have, want *resourcev1.ResourceSlice) bool {
	if have == nil || want == nil {
		return have == nil && want == nil
	}
	return apiequality.Semantic.DeepEqual(have.OwnerReferences, want.OwnerReferences) &&
		apiequality.Semantic.DeepEqual(have.Spec.Devices, want.Spec.Devices)
}

func nodeOfSlice(slices ...*resourcev1.ResourceSlice) string {
	for _, s := range slices {
		if s != nil {
			return s.Spec.Pool.Name
		}
	}
	return ""
}
