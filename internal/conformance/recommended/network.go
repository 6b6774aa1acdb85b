package recommended

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are.
const (
	kindNetworkOffer = "network-offer"   // networkOffers
	kindNetworkClaim = "claimed-network" // testpod.Status
)

//go:embed network.yaml
var networkFile []byte

// networkNames are the names by which network devices are known.
type networkNames struct {
	Drivers   []namedResource `json:"drivers"`
	Resources []namedResource `json:"resources"`
}

func loadNetworkNames() (networkNames, error) {
	k, err := loadNames[networkNames]("network.yaml", networkFile)
	if err != nil {
		return k, err
	}
	return k, compileNames("network.yaml", k.Resources)
}

func (k networkNames) isDriver(name string) bool {
	return slices.ContainsFunc(k.Drivers, func(d namedResource) bool { return d.Name == name })
}

// classes maps each known driver to the first DeviceClass that names it in a selector.
func (k networkNames) classes(all []resourcev1.DeviceClass) map[string]string {
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

// networkOffers is what the cluster offers of network devices.
type networkOffers struct {
	Nodes []networkOffer `json:"nodes"`
	// Classes are the DeviceClasses that select devices of a known driver, by driver.
	Classes map[string]string `json:"classes,omitempty"`
}

// networkOffer is what a node offers.
type networkOffer struct {
	Node string `json:"node"`
	// Devices counts devices by DRA driver; Attributes are the names of their attributes.
	Devices    map[string]int      `json:"devices,omitempty"`
	Attributes map[string][]string `json:"attributes,omitempty"`
	// Resources counts allocatable extended resources.
	Resources map[string]int64 `json:"resources,omitempty"`
}

// driver is a driver that publishes devices with attributes, and the nodes that have some.
func (o networkOffers) driver() (name string, nodes []string) {
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

// resource is the extended resource of most nodes, with those nodes and its highest count.
func (o networkOffers) resource() (name string, nodes []string, count int64) {
	nodesOf := map[string][]string{}
	for _, n := range o.Nodes {
		for r := range n.Resources {
			nodesOf[r] = append(nodesOf[r], n.Node)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(nodesOf)) {
		if len(nodesOf[r]) > len(nodes) {
			name, nodes = r, nodesOf[r]
		}
	}
	for _, n := range o.Nodes {
		count = max(count, n.Resources[name])
	}
	return name, nodes, count
}

// add counts the devices of a slice if they are the node's.
func (n *networkOffer) add(k networkNames, s *resourcev1.ResourceSlice) {
	if s.Spec.NodeName == nil || *s.Spec.NodeName != n.Node || !k.isDriver(s.Spec.Driver) {
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

// Network checks high_performance_networking: nodes offer network devices through DRA, with
// their attributes, and a pod that claims one runs. The requirement names DRA, so an
// extended resource alone meets it only in part.
type Network struct {
	deps  conformance.Deps
	nodes []string
	image string
	// declared is the site's extended resource; empty where it has none.
	declared string
	exempt   string
}

// NewNetwork returns the check for a site and the profile of its hardware.
func NewNetwork(s *site.Site, p *profile.Profile, deps conformance.Deps) *Network {
	c := &Network{
		deps: deps.WithDefaults(timeout), nodes: conformance.NodeNames(s), declared: s.Fabric.NetworkResource,
		image: s.Telemetry.LoadImage, // the pods only sleep
	}
	switch {
	case len(c.nodes) == 1:
		c.exempt = "the site has one node: no communication between pods leaves it"
	case !p.Rails():
		c.exempt = fmt.Sprintf("profile %s has no compute fabric (node.hcas is 0): the pod network is enough", p.Name)
	}
	return c
}

// Name implements check.Check.
func (*Network) Name() string { return "high_performance_networking" }

// Exempt is why the requirement does not apply to the site; empty where it does.
func (c *Network) Exempt() string { return c.exempt }

// Describe lists what the check does.
func (c *Network) Describe() []string {
	return []string{
		fmt.Sprintf("read which network devices %d nodes offer: through DRA with their attributes, and as extended resources", len(c.nodes)),
		"create a pod with one: it must run; create a pod with more than any node has: it must be unschedulable",
	}
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Network) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), c.observe)
}

func (c *Network) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (err error) {
	rec.Progress("reading which network devices are offered")
	attempt := rec.Begin(kindNetworkOffer, "cluster", "GET nodes, resourceslices, deviceclasses")
	offers, failed := c.offers(ctx, cluster)
	if err := attempt.Record(offers, failed); err != nil || failed != nil {
		return err
	}
	driver, driverNodes := offers.driver()
	resource, nodes, count := offers.resource()
	class := offers.Classes[driver]
	if class == "" && resource == "" {
		return nil
	}
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "network", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	if class != "" {
		return c.claim(ctx, r, rec, class, driverNodes)
	}
	return allocate(ctx, r, rec, allocationRequest{check: c.Name(), image: c.image, resource: resource, nodes: nodes, tooMany: count + 1, timeout: c.deps.Timeout})
}

func (c *Network) claim(ctx context.Context, r testpod.Runner, rec check.Observer, class string, nodes []string) error {
	rec.Progress("creating a pod with a claim of a network device")
	const name = "claimant"
	attempt := rec.Begin(kindNetworkClaim, class, "create ResourceClaimTemplate of DeviceClass "+class+" and Pod "+name+"; read Pod and ResourceClaim until the pod runs")
	var status testpod.Status
	err := r.Start(ctx, testpod.Spec{
		Name: name, Check: c.Name(), Image: c.image, Nodes: nodes, Claim: &testpod.Claim{Class: class},
		Containers: []testpod.Container{{Name: name, Script: testpod.Sleep, Claims: true}},
	})
	if err == nil {
		status, err = r.WaitFor(ctx, c.deps.Timeout, name, testpod.Status.Settled)
	}
	return errors.Join(attempt.Record(status, err), ctx.Err())
}

func (c *Network) offers(ctx context.Context, cluster *kube.Cluster) (networkOffers, error) {
	out := networkOffers{Nodes: []networkOffer{}}
	k, err := loadNetworkNames()
	if err != nil {
		return out, err
	}
	nodes, err := inventoryNodes(ctx, cluster, c.nodes)
	if err != nil {
		return out, err
	}
	published, err := inventory.ResourceSlices(ctx, cluster, "")
	if err != nil {
		return out, err
	}
	classes, err := cluster.Client.ResourceV1().DeviceClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return out, fmt.Errorf("list device classes: %w", err)
	}
	for _, n := range nodes {
		o := networkOffer{Node: n.Name, Devices: map[string]int{}, Attributes: map[string][]string{}, Resources: map[string]int64{}}
		for name, quantity := range n.Status.Allocatable {
			if count := quantity.Value(); count > 0 && c.isNetworkResource(k, string(name)) {
				o.Resources[string(name)] = count
			}
		}
		for i := range published {
			o.add(k, &published[i])
		}
		out.Nodes = append(out.Nodes, o)
	}
	out.Classes = k.classes(classes.Items)
	return out, nil
}

func (c *Network) isNetworkResource(k networkNames, name string) bool {
	return name == c.declared || slices.ContainsFunc(k.Resources, func(r namedResource) bool { return r.form.MatchString(name) })
}
