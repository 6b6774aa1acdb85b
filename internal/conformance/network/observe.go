package network

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/giving"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Kinds of observations, and what their figures are.
const (
	kindOffer   = "network-offer"   // offered
	kindClaimed = "claimed-network" // trial.Seen
)

// offered is what there is of network devices.
type offered struct {
	Nodes []nodeOffer `json:"nodes"`
	// Classes are the DeviceClasses that select devices of a known driver, by driver.
	Classes map[string]string `json:"classes,omitempty"`
}

// nodeOffer is what a node offers.
type nodeOffer struct {
	Node string `json:"node"`
	// Devices are counted by the DRA driver that publishes them; Attributes are the names
	// of what it says of them.
	Devices    map[string]int      `json:"devices,omitempty"`
	Attributes map[string][]string `json:"attributes,omitempty"`
	// Resources are allocatable extended ones.
	Resources map[string]int64 `json:"resources,omitempty"`
}

// driver is one that publishes devices with attributes, and the nodes that have some.
func (o offered) driver() (name string, nodes []string) {
	for _, n := range o.Nodes {
		for _, d := range slices.Sorted(maps.Keys(n.Devices)) {
			if name == "" && len(n.Attributes[d]) > 0 {
				name = d
			}
		}
	}
	for _, n := range o.Nodes {
		if name != "" && n.Devices[name] > 0 {
			nodes = append(nodes, n.Node)
		}
	}
	return name, nodes
}

// resource is the extended one that most nodes have, with those nodes and how many of it
// the one with most has.
func (o offered) resource() (name string, nodes []string, most int64) {
	having := map[string][]string{}
	for _, n := range o.Nodes {
		for r := range n.Resources {
			having[r] = append(having[r], n.Node)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(having)) {
		if len(having[r]) > len(nodes) {
			name, nodes = r, having[r]
		}
	}
	for _, n := range o.Nodes {
		most = max(most, n.Resources[name])
	}
	return name, nodes, most
}

func (c *Check) look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) (err error) {
	rec.Progress("reading which network devices are offered")
	n := rec.Begin(kindOffer, "cluster", "GET nodes, resourceslices, deviceclasses")
	have, unseen := c.offered(ctx, cluster)
	if kept := n.Keep(have, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	driver, on := have.driver()
	resource, nodes, most := have.resource()
	class := have.Classes[driver]
	if class == "" && resource == "" {
		return nil
	}
	r, err := trial.Open(ctx, cluster, c.deps.RunID, "network", c.deps.Clock)
	if err != nil {
		return err //nolint:wrapcheck // says what it opens
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if class != "" {
		return c.claim(ctx, r, rec, class, on)
	}
	ask := giving.Ask{Check: Name, Image: c.image, Resource: resource, Nodes: nodes, More: most + 1, Patience: c.deps.Patience}
	return giving.Try(ctx, r, rec, ask) //nolint:wrapcheck // says what it does
}

func (c *Check) claim(ctx context.Context, r trial.Runner, rec record.Notes, class string, nodes []string) error {
	rec.Progress("a pod with a claim of a network device")
	const name = "claimant"
	n := rec.Begin(kindClaimed, class, "create ResourceClaimTemplate of DeviceClass "+class+" and Pod "+name+"; read Pod and ResourceClaim until the pod runs")
	spec := trial.Spec{
		Name: name, Check: Name, Image: c.image, Nodes: nodes, Claim: &trial.Claim{Class: class},
		Containers: []trial.Container{{Name: "claimant", Script: trial.Sleep, Claims: true}},
	}
	if err := r.Start(ctx, spec); err != nil {
		return errors.Join(n.Keep(nil, err), ctx.Err())
	}
	seen, unseen := r.Await(ctx, c.deps.Patience, name, func(s trial.Seen) bool { return s.Runs() || s.Over() || s.Refused() })
	return errors.Join(n.Keep(seen, unseen), ctx.Err())
}

func (c *Check) offered(ctx context.Context, cluster *kube.Cluster) (offered, error) {
	out := offered{Nodes: []nodeOffer{}}
	k, err := load()
	if err != nil {
		return out, err
	}
	nodes, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return out, fmt.Errorf("list nodes: %w", err)
	}
	published, err := cluster.Client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return out, fmt.Errorf("list resource slices: %w", err)
	}
	classes, err := cluster.Client.ResourceV1().DeviceClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return out, fmt.Errorf("list device classes: %w", err)
	}
	for _, n := range nodes.Items {
		if !slices.Contains(c.nodes, n.Name) {
			continue
		}
		o := nodeOffer{Node: n.Name, Devices: map[string]int{}, Attributes: map[string][]string{}, Resources: map[string]int64{}}
		for name, quantity := range n.Status.Allocatable {
			if count := quantity.Value(); count > 0 && c.resource(k, string(name)) {
				o.Resources[string(name)] = count
			}
		}
		for i := range published.Items {
			o.add(k, &published.Items[i])
		}
		out.Nodes = append(out.Nodes, o)
	}
	out.Classes = k.classes(classes.Items)
	return out, nil
}

// classes are the first DeviceClasses that name a known driver in a selector, by driver.
func (k known) classes(all []resourcev1.DeviceClass) map[string]string {
	out := map[string]string{}
	for _, class := range all {
		for _, s := range class.Spec.Selectors {
			for _, d := range k.Drivers {
				if s.CEL != nil && strings.Contains(s.CEL.Expression, d.Name) && out[d.Name] == "" {
					out[d.Name] = class.Name
				}
			}
		}
	}
	return out
}

// add counts the devices of a slice that are the node's.
func (n *nodeOffer) add(k known, s *resourcev1.ResourceSlice) {
	if s.Spec.NodeName == nil || *s.Spec.NodeName != n.Node || k.driver(s.Spec.Driver) == "" {
		return
	}
	for _, d := range s.Spec.Devices {
		n.Devices[s.Spec.Driver]++
		for name := range d.Attributes {
			if !slices.Contains(n.Attributes[s.Spec.Driver], string(name)) {
				n.Attributes[s.Spec.Driver] = append(n.Attributes[s.Spec.Driver], string(name))
			}
		}
	}
	slices.Sort(n.Attributes[s.Spec.Driver])
}
