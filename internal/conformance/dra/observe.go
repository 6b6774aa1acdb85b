package dra

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// maxNodes limits how many nodes the pods may be placed on.
const maxNodes = 16

// matchesNothing selects no device, since no driver has this name. It needs no attribute, so
// it is valid for every device.
const matchesNothing = "device.driver == 'none.firstlight.dev'"

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	rec.Progress("reading API versions, device class and resource slices")
	attempt := rec.Begin(kindServed, "cluster", "GET /apis/"+group+", /apis/"+group+"/"+version)
	api, failed := readServed(ctx, cluster)
	if err := attempt.Record(api, failed); err != nil || failed != nil || !slices.Contains(api.Versions, version) {
		return err
	}
	attempt = rec.Begin(kindClass, inventory.Driver, "GET deviceclasses/"+inventory.Driver)
	deviceClass, failed := readClass(ctx, cluster)
	if err := attempt.Record(deviceClass, failed); err != nil {
		return err
	}
	attempt = rec.Begin(kindSlices, "cluster", "GET resourceslices")
	all, failed := inventory.ListSlices(ctx, cluster)
	if err := attempt.Record(all, failed); err != nil || failed != nil {
		return err
	}
	attempt = rec.Begin(kindFree, "cluster", "GET nodes, pods, resourceclaims: devices of the inventory's nodes that neither claims nor pods of the device plugin hold")
	gpus, failed := inventory.Usage(ctx, cluster, c.nodes, all)
	free := freeNodes{GPUs: gpus, Nodes: inventory.NodesWithFree(gpus, maxNodes)}
	if err := attempt.Record(free, failed); err != nil || failed != nil || len(free.Nodes) == 0 {
		return err
	}
	return c.observePods(ctx, cluster, rec, free.Nodes)
}

func readServed(ctx context.Context, cluster *kube.Cluster) (served, error) {
	out := served{Versions: []string{}}
	var g metav1.APIGroup
	client := cluster.Client.Discovery().RESTClient()
	err := client.Get().AbsPath("/apis/" + group).Do(ctx).Into(&g)
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read API group %s: %w", group, err)
	}
	for _, v := range g.Versions {
		out.Versions = append(out.Versions, v.Version)
	}
	if !slices.Contains(out.Versions, version) {
		return out, nil
	}
	var list metav1.APIResourceList
	if err := client.Get().AbsPath("/apis/" + group + "/" + version).Do(ctx).Into(&list); err != nil {
		return out, fmt.Errorf("read API %s/%s: %w", group, version, err)
	}
	for _, r := range list.APIResources {
		out.Resources = append(out.Resources, r.Name)
	}
	slices.Sort(out.Resources)
	return out, nil
}

func readClass(ctx context.Context, cluster *kube.Cluster) (class, error) {
	out := class{Name: inventory.Driver}
	got, err := cluster.DRA().DeviceClasses().Get(ctx, inventory.Driver, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read device class %s: %w", inventory.Driver, err)
	}
	out.Found = true
	for _, s := range got.Spec.Selectors {
		if s.CEL != nil {
			out.Selectors = append(out.Selectors, s.CEL.Expression)
		}
	}
	return out, nil
}

// observePods creates two pods with a claim each, equal except for the devices that the
// claims match.
func (c *Check) observePods(ctx context.Context, cluster *kube.Cluster, rec check.Observer, nodes []string) (err error) {
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "dra", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	spec := func(name string, claim testpod.Claim) testpod.Spec {
		return testpod.Spec{
			Name: name, Check: Name, Image: c.image, Nodes: nodes, Claim: &claim,
			Containers: []testpod.Container{{Name: "claimant", Script: testpod.Sleep, Claims: true}},
		}
	}
	rec.Progress("creating a claim of a GPU, and a claim that no device matches")
	first := rec.Begin(kindPod, allocatable, "create ResourceClaimTemplate and Pod "+allocatable+"; read Pod and ResourceClaim until the pod runs")
	if err := r.Start(ctx, spec(allocatable, testpod.Claim{})); err != nil {
		return errors.Join(first.Record(nil, err), ctx.Err())
	}
	second := rec.Begin(kindPod, impossible, "create ResourceClaimTemplate and Pod "+impossible+", with the selector "+matchesNothing+"; read Pod and ResourceClaim until the pod is unschedulable")
	if err := r.Start(ctx, spec(impossible, testpod.Claim{CEL: matchesNothing})); err != nil {
		return errors.Join(second.Record(nil, err), ctx.Err())
	}
	status, failed := r.WaitFor(ctx, c.deps.Timeout, allocatable, func(s testpod.Status) bool {
		return s.Terminated() || s.Running() && s.Claim != nil && s.Claim.Allocated
	})
	if err := first.Record(status, failed); err != nil {
		return err
	}
	// Read after the first was allocated: the scheduler does allocate, but not this claim.
	status, failed = r.WaitFor(ctx, c.deps.Timeout, impossible, func(s testpod.Status) bool {
		return s.Terminated() || s.Running() || s.Claim != nil && (s.Claim.Allocated || s.Unschedulable())
	})
	if err := second.Record(status, failed); err != nil {
		return err
	}
	last := rec.Begin(kindPod, allocatableAgain, "read Pod and ResourceClaim "+allocatable+" again")
	status, failed = r.Get(ctx, allocatable)
	return errors.Join(last.Record(status, failed), ctx.Err())
}
