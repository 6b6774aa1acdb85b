package sharing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Labels of GPU feature discovery.
const (
	labelCapable  = "nvidia.com/mig.capable"
	labelStrategy = "nvidia.com/gpu.sharing-strategy"
	labelReplicas = "nvidia.com/gpu.replicas"
)

// Extended resources that are parts of GPUs: MIG slices, and replicas that are renamed.
const (
	migPrefix    = "nvidia.com/mig-"
	sharedSuffix = ".shared"
	gpuPrefix    = "nvidia.com/gpu"
)

// Names of the pods and the claim.
const (
	claimName = "shared"
	alone     = "alone"
)

func sharers() []string { return []string{"first", "second"} }

func (c *Check) look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (err error) {
	rec.Progress("reading which parts of GPUs are offered")
	n := rec.Begin(kindOffer, "cluster", "GET nodes, resourceslices")
	offered, unseen := c.offered(ctx, cluster)
	if kept := n.Keep(offered, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	n = rec.Begin(kindRoom, "cluster", "GET nodes, pods, resourceslices, resourceclaims: devices of the inventory's nodes less what is held")
	all, unseen := offer.Slices(ctx, cluster)
	var free rooms
	if unseen == nil {
		free, unseen = offer.Rooms(ctx, cluster, c.nodes, all)
	}
	if kept := n.Keep(free, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "sharing", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if nodes := offer.WithRoom(free, 1); len(nodes) > 0 {
		if err := c.share(ctx, r, rec, nodes); err != nil {
			return err
		}
	}
	return c.tryParts(ctx, r, rec, offered)
}

func (c *Check) offered(ctx context.Context, cluster *kube.Cluster) ([]nodeOffer, error) {
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	published, err := cluster.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: resourcev1.ResourceSliceSelectorDriver + "=" + offer.Driver})
	if err != nil {
		return nil, fmt.Errorf("list resource slices: %w", err)
	}
	devices := map[string]int{}
	for _, s := range published.Items {
		for _, d := range s.Spec.Devices {
			if s.Spec.NodeName != nil && partial(d) {
				devices[*s.Spec.NodeName]++
			}
		}
	}
	out := []nodeOffer{}
	for _, n := range nodes.Items {
		if !slices.Contains(c.nodes, n.Name) {
			continue
		}
		replicas, err := strconv.Atoi(n.Labels[labelReplicas])
		if err != nil {
			replicas = 0 // not labelled
		}
		out = append(out, nodeOffer{
			Node: n.Name, Capable: n.Labels[labelCapable] == "true", Strategy: n.Labels[labelStrategy], Replicas: replicas,
			Parts: partsOf(n.Status.Allocatable, replicas), Devices: devices[n.Name],
		})
	}
	return out, nil
}

// partial says that a device is a part of a GPU, or may be allocated more than once.
func partial(d resourcev1.Device) bool {
	if d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations {
		return true
	}
	for _, key := range []resourcev1.QualifiedName{"type", offer.Driver + "/type"} {
		if a := d.Attributes[key]; a.StringValue != nil && *a.StringValue == "mig" {
			return true
		}
	}
	return false
}

// partsOf are the resources that are less than a GPU each; GPUs themselves are, where
// each has replicas.
func partsOf(allocatable corev1.ResourceList, replicas int) map[string]int64 {
	out := map[string]int64{}
	for name, quantity := range allocatable {
		text := string(name)
		part := strings.HasPrefix(text, migPrefix) || strings.HasPrefix(text, gpuPrefix) && strings.HasSuffix(text, sharedSuffix) || text == kube.GPUResource && replicas > 1
		if n := quantity.Value(); part && n > 0 {
			out[text] = n
		}
	}
	return out
}

func (c *Check) spec(name string) trial.Spec {
	return trial.Spec{Name: name, Check: Name, Image: c.image, Containers: []trial.Container{{Name: "sharer", Script: trial.Sleep}}}
}

// share has two pods share a claim on nodes with a free GPU, and a third ask for its own.
func (c *Check) share(ctx context.Context, r trial.Runner, rec record.Notes, nodes []string) error {
	rec.Progress("a claim of one GPU that two pods share")
	n := rec.Begin(kindShared, claimName, "create ResourceClaim "+claimName+" and two Pods that name it, then a Pod with a claim of its own on the same node; read them until they run, or the scheduler has refused one")
	seen, unseen := c.observeShared(ctx, r, nodes)
	return errors.Join(n.Keep(seen, unseen), ctx.Err())
}

func (c *Check) observeShared(ctx context.Context, r trial.Runner, nodes []string) (shared, error) {
	var out shared
	if err := r.Share(ctx, Name, claimName, trial.Claim{}); err != nil {
		return out, err //nolint:wrapcheck // says what it creates
	}
	for _, name := range sharers() {
		s := c.spec(name)
		s.Nodes, s.Shared, s.Containers[0].Claims = nodes, claimName, true
		if err := r.Start(ctx, s); err != nil {
			return out, err //nolint:wrapcheck // says what it creates
		}
	}
	for _, name := range sharers() {
		if _, err := r.Await(ctx, c.deps.Patience, name, settled); err != nil {
			return out, err //nolint:wrapcheck // says what it reads
		}
	}
	// Begun when the shared claim is allocated: whoever allocates knows of it.
	s := c.spec(alone)
	s.Nodes, s.Claim, s.Containers[0].Claims = nodes, &trial.Claim{}, true
	if err := r.Start(ctx, s); err != nil {
		return out, err //nolint:wrapcheck // says what it creates
	}
	var err error
	if out.Alone, err = r.Await(ctx, c.deps.Patience, alone, func(s trial.Seen) bool {
		return settled(s) && (s.Claim != nil && s.Claim.Allocated || s.Refused() || s.Over())
	}); err != nil {
		return out, err //nolint:wrapcheck // says what it reads
	}
	for _, name := range sharers() {
		seen, err := r.Look(ctx, name)
		if err != nil {
			return out, err //nolint:wrapcheck // says what it reads
		}
		out.Pods = append(out.Pods, seen)
	}
	out.Claim, err = r.LookClaim(ctx, claimName)
	return out, err //nolint:wrapcheck // says what it reads
}

// settled: more waiting changes nothing.
func settled(s trial.Seen) bool { return s.Runs() || s.Over() || s.Refused() }

// tryParts has two pods have a part each on a node that offers two of a kind.
func (c *Check) tryParts(ctx context.Context, r trial.Runner, rec record.Notes, offered []nodeOffer) error {
	for _, o := range offered {
		for _, resource := range slices.Sorted(maps.Keys(o.Parts)) {
			if o.Parts[resource] < 2 {
				continue
			}
			rec.Progress("two pods with a %s each", resource)
			n := rec.Begin(kindParts, o.Node, "create two Pods with one "+resource+" each; read them until they run")
			seen, unseen := c.observeParts(ctx, r, o.Node, resource)
			return errors.Join(n.Keep(seen, unseen), ctx.Err())
		}
	}
	return nil
}

func (c *Check) observeParts(ctx context.Context, r trial.Runner, node, resource string) (parts, error) {
	out := parts{Node: node, Resource: resource}
	names := []string{"part-1", "part-2"}
	for _, name := range names {
		s := c.spec(name)
		s.Nodes, s.Limits = []string{node}, map[string]int64{resource: 1}
		if err := r.Start(ctx, s); err != nil {
			return out, err //nolint:wrapcheck // says what it creates
		}
	}
	for _, name := range names {
		seen, err := r.Await(ctx, c.deps.Patience, name, settled)
		if err != nil {
			return out, err //nolint:wrapcheck // says what it reads
		}
		out.Pods = append(out.Pods, seen)
	}
	return out, nil
}
