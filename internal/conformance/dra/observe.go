package dra

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// mostNodes bounds how many nodes the pods may choose from.
const mostNodes = 16

// Observe implements check.Check. What it created is gone when it returns, but for
// the run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe DRA: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	log := calls.NewLog(nil)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	err = c.observe(ctx, cluster, record.Notes{Recorder: rec, Clock: c.deps.Clock})
	return errors.Join(err, log.Keep(rec, "cluster"))
}

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec record.Notes) error {
	rec.Progress("reading API versions, device class and resource slices")
	n := rec.Begin(kindServed, "cluster", "GET /apis/"+group+", /apis/"+group+"/"+version)
	have, err := readServed(ctx, cluster)
	if kept := n.Keep(have, err); kept != nil || err != nil || !slices.Contains(have.Versions, version) {
		return kept
	}
	n = rec.Begin(kindClass, offer.Driver, "GET deviceclasses/"+offer.Driver)
	made, err := readClass(ctx, cluster)
	if kept := n.Keep(made, err); kept != nil {
		return kept
	}
	n = rec.Begin(kindSlices, "cluster", "GET resourceslices")
	all, err := offer.Slices(ctx, cluster)
	if kept := n.Keep(all, err); kept != nil || err != nil {
		return kept
	}
	n = rec.Begin(kindRoom, "cluster", "GET nodes, pods, resourceclaims: devices of the inventory's nodes less what claims and the device plugin's pods hold")
	rooms, err := offer.Rooms(ctx, cluster, c.nodes, all)
	free := room{Rooms: rooms, Nodes: offer.WithRoom(rooms, mostNodes)}
	if kept := n.Keep(free, err); kept != nil || err != nil || len(free.Nodes) == 0 {
		return kept
	}
	return c.try(ctx, cluster, rec, free.Nodes)
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
	out := class{Name: offer.Driver}
	got, err := cluster.Client.ResourceV1().DeviceClasses().Get(ctx, offer.Driver, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read device class %s: %w", offer.Driver, err)
	}
	out.Found = true
	for _, s := range got.Spec.Selectors {
		if s.CEL != nil {
			out.Selectors = append(out.Selectors, s.CEL.Expression)
		}
	}
	return out, nil
}
