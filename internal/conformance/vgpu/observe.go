package vgpu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/offer"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/giving"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kindOffer is the observation of what is offered: []nodeOffer.
const kindOffer = "virtual-offer"

// nodeOffer is what of virtual GPUs a node offers.
type nodeOffer struct {
	Node string `json:"node"`
	// Resources are allocatable ones that are virtual, with what each is in What.
	Resources map[string]int64  `json:"resources,omitempty"`
	What      map[string]string `json:"what,omitempty"`
	// Devices are the DRA driver's that are virtual.
	Devices int `json:"devices,omitempty"`
}

func (n nodeOffer) offers() bool { return len(n.Resources) > 0 || n.Devices > 0 }

func (c *Check) look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (err error) {
	rec.Progress("reading which virtual GPUs are offered")
	n := rec.Begin(kindOffer, "cluster", "GET nodes, resourceslices of driver "+offer.Driver)
	offered, unseen := c.offered(ctx, cluster)
	if kept := n.Keep(offered, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	resource, nodes, most := largest(offered)
	if resource == "" {
		return nil
	}
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "vgpu", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	ask := giving.Ask{Check: Name, Image: c.image, Resource: resource, Nodes: nodes, More: most + 1, Patience: c.deps.Patience}
	return giving.Try(ctx, r, rec, ask) //nolint:wrapcheck // says what it does
}

// largest is the virtual resource of which a node has most, with the nodes that have any
// and how many that is.
func largest(offered []nodeOffer) (resource string, nodes []string, most int64) {
	for _, o := range offered {
		for _, name := range slices.Sorted(maps.Keys(o.Resources)) {
			if o.Resources[name] > most {
				resource, most = name, o.Resources[name]
			}
		}
	}
	for _, o := range offered {
		if o.Resources[resource] > 0 {
			nodes = append(nodes, o.Node)
		}
	}
	return resource, nodes, most
}

func (c *Check) offered(ctx context.Context, cluster *kube.Cluster) ([]nodeOffer, error) {
	k, err := load()
	if err != nil {
		return nil, err
	}
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	published, err := cluster.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: resourcev1.ResourceSliceSelectorDriver + "=" + offer.Driver})
	if err != nil {
		return nil, fmt.Errorf("list resource slices: %w", err)
	}
	devices := k.devices(published.Items)
	out := []nodeOffer{}
	for _, n := range nodes.Items {
		if !slices.Contains(c.nodes, n.Name) {
			continue
		}
		o := nodeOffer{Node: n.Name, Resources: map[string]int64{}, What: map[string]string{}, Devices: devices[n.Name]}
		for name, quantity := range n.Status.Allocatable {
			what := k.what(string(name))
			if name == kube.GPUResource && n.Labels[k.Label.Name] == "true" {
				what = "a vGPU, by the node's label " + k.Label.Name
			}
			if count := quantity.Value(); what != "" && count > 0 {
				o.Resources[string(name)], o.What[string(name)] = count, what
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// devices counts the virtual ones by node.
func (k known) devices(published []resourcev1.ResourceSlice) map[string]int {
	out := map[string]int{}
	for _, s := range published {
		for _, d := range s.Spec.Devices {
			for _, key := range []resourcev1.QualifiedName{"type", offer.Driver + "/type"} {
				if a := d.Attributes[key]; s.Spec.NodeName != nil && a.StringValue != nil && slices.Contains(k.Types, *a.StringValue) {
					out[*s.Spec.NodeName]++
				}
			}
		}
	}
	return out
}
