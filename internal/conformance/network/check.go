package network

import (
	"context"
	_ "embed" // what network devices are called
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "high_performance_networking"

//go:embed devices.yaml
var knownFile []byte

// known is what network devices are called.
type known struct {
	Drivers   []named `json:"drivers"`
	Resources []named `json:"resources"`
}

type named struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	Source string `json:"source"`
	form   *regexp.Regexp
}

func load() (known, error) {
	var k known
	if err := yaml.UnmarshalStrict(knownFile, &k); err != nil {
		return k, fmt.Errorf("read what network devices are called: %w", err)
	}
	for i := range k.Resources {
		form, err := regexp.Compile(k.Resources[i].Name)
		if err != nil {
			return k, fmt.Errorf("read what network devices are called: %w", err)
		}
		k.Resources[i].form = form
	}
	return k, nil
}

// driver says which one of network devices it is; empty for another.
func (k known) driver(name string) string {
	for _, d := range k.Drivers {
		if d.Name == name {
			return d.What
		}
	}
	return ""
}

// resource says whether an extended resource is of network devices.
func (c *Check) resource(k known, name string) bool {
	if name == c.declared {
		return true
	}
	for _, r := range k.Resources {
		if r.form.MatchString(name) {
			return true
		}
	}
	return false
}

// Check is the check.
type Check struct {
	deps  standing.Deps
	nodes []string
	image string
	// declared is the site's extended resource; empty where it has none.
	declared string
	exempt   string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site and the profile of its hardware.
func New(s *site.Site, p *profile.Profile, deps standing.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(), image: s.Telemetry.LoadImage, declared: s.Fabric.NetworkResource} // the pods only sleep
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	switch {
	case len(c.nodes) == 1:
		c.exempt = "the site has one node: no communication between pods leaves it"
	case !p.Rails():
		c.exempt = fmt.Sprintf("by profile %s the nodes are on no compute fabric (node.hcas is 0): no pod needs more than the pod network", p.Name)
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Exempt is why the requirement does not apply to the site; empty where it does.
func (c *Check) Exempt() string { return c.exempt }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("see which network devices %d nodes offer: through DRA with their attributes, and as extended resources", len(c.nodes)),
		"create a pod with one, and see it run; and one that asks for more than any node has, and see it refused",
	}
}

// Observe implements check.Check. What it created is gone when it returns, but for the
// run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.look) //nolint:wrapcheck // says of what
}
