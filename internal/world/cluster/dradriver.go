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
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
)

// driver publishes what NVIDIA's DRA driver does: its DeviceClass and a ResourceSlice per GPU
// node.
type driver struct {
	client  kubernetes.Interface
	world   *world.World
	nodes   cache.SharedIndexInformer
	slices  cache.SharedIndexInformer
	changed *broadcast
	log     *slog.Logger
}

func newDriver(client kubernetes.Interface, w *world.World, nodes cache.SharedIndexInformer, log *slog.Logger) *driver {
	own := resourceinformers.NewFilteredResourceSliceInformer(client, 0, nil, func(o *metav1.ListOptions) {
		o.FieldSelector = "spec.driver=" + draDriver
	})
	d := &driver{client: client, world: w, nodes: nodes, slices: own, changed: newBroadcast(), log: log}
	ring := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { d.changed.notify() },
		UpdateFunc: func(_, _ any) { d.changed.notify() },
		DeleteFunc: func(any) { d.changed.notify() },
	}
	// AddEventHandler fails only on a stopped informer.
	_, _ = d.slices.AddEventHandler(ring)
	// Node status changes often and is irrelevant here.
	_, _ = d.nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: ring.AddFunc, DeleteFunc: ring.DeleteFunc})
	return d
}

// run keeps class and slices up to date until ctx ends.
func (d *driver) run(ctx context.Context) {
	if !cache.WaitFor(ctx, "", d.nodes.HasSyncedChecker(), d.slices.HasSyncedChecker()) {
		return
	}
	notices, cancel := d.world.Subscribe()
	defer cancel()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	var last classState
	for syncClass := true; ; {
		changed := d.changed.wait()
		var err error
		state := d.world.Recent()
		if now := (classState{state.NoDRADriver, state.DRAClassMismatch}); now != last {
			last, syncClass = now, true
		}
		if syncClass { // the class is not watched
			err = d.syncClass(ctx, last)
		}
		if err = errors.Join(err, d.syncSlices(ctx)); err != nil && ctx.Err() == nil {
			d.log.Warn("cannot sync ResourceSlices", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-notices:
			syncClass = false
		case <-changed:
			syncClass = false
		case <-tick.C:
			syncClass = true
		}
	}
}

func (d *driver) syncSlices(ctx context.Context) error {
	state := d.world.Recent()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, host := range state.GPUNodes() {
		if want, have, ok := d.compare(state, host); !ok {
			group.Go(func() error { return d.put(ctx, have, want) })
		}
	}
	return group.Wait()
}

// classState is the state of the DeviceClass by the faults.
type classState struct{ absent, mismatch bool }

// syncClass creates the DeviceClass or corrects its selectors, or deletes it where the driver is absent.
func (d *driver) syncClass(ctx context.Context, of classState) error {
	api := d.client.ResourceV1().DeviceClasses()
	want := deviceClass(of.mismatch)
	if of.absent {
		if err := api.Delete(ctx, draDriver, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("remove DeviceClass %s: %w", draDriver, err)
		}
		return nil
	}
	have, err := api.Get(ctx, draDriver, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = api.Create(ctx, want, metav1.CreateOptions{})
	case err == nil && !apiequality.Semantic.DeepEqual(have.Spec.Selectors, want.Spec.Selectors):
		have.Spec.Selectors = want.Spec.Selectors
		_, err = api.Update(ctx, have, metav1.UpdateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("sync DeviceClass %s: %w", draDriver, err)
	}
	return nil
}

// compare returns a host's desired and current slice, each nil for none, and whether they are
// equal. A host without Node object has no slice.
func (d *driver) compare(state world.State, host world.Node) (want, have *resourcev1.ResourceSlice, ok bool) {
	if obj, exists, err := d.nodes.GetStore().GetByKey(host.Name); err == nil && exists {
		if node, isNode := obj.(*corev1.Node); isNode {
			want = desiredSlice(state, host, node.UID)
		}
	}
	if obj, exists, err := d.slices.GetStore().GetByKey(sliceName(host.Name)); err == nil && exists {
		have, _ = obj.(*resourcev1.ResourceSlice)
	}
	return want, have, sameSlice(have, want)
}

// put creates, updates or deletes a slice. A slice of a previous Node object is recreated.
func (d *driver) put(ctx context.Context, have, want *resourcev1.ResourceSlice) error {
	api := d.client.ResourceV1().ResourceSlices()
	var err error
	switch {
	case have == nil:
		if _, err = api.Create(ctx, want, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
			err = nil // the informer delivers it
		}
	case want == nil, !apiequality.Semantic.DeepEqual(have.OwnerReferences, want.OwnerReferences):
		if err = api.Delete(ctx, have.Name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
			err = nil
		}
	default:
		next := have.DeepCopy()
		next.Spec.Devices = want.Spec.Devices
		next.Spec.Pool.Generation++ // consumers use the highest generation
		if _, err = api.Update(ctx, next, metav1.UpdateOptions{}); apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			err = nil // the informer delivers the current one
		}
	}
	if err != nil {
		return fmt.Errorf("publish ResourceSlice of %s: %w", nodeOfSlice(have, want), err)
	}
	return nil
}

// settled returns nil when every slice matches the hardware.
func (d *driver) settled() error {
	if !d.slices.HasSynced() {
		return errors.New("ResourceSlices are not listed yet")
	}
	state := d.world.Recent()
	for _, host := range state.GPUNodes() {
		if _, _, ok := d.compare(state, host); !ok {
			return fmt.Errorf("ResourceSlice of %s is not published yet", host.Name)
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
