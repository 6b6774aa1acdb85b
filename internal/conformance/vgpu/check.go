package vgpu

import (
	"context"
	_ "embed" // what is virtual
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "virtualized_accelerator"

//go:embed resources.yaml
var knownFile []byte

// known is what is virtual.
type known struct {
	Resources []struct {
		Name   string `json:"name"`
		What   string `json:"what"`
		Source string `json:"source"`
		form   *regexp.Regexp
	} `json:"resources"`
	Label struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	} `json:"label"`
	Types []string `json:"types"`
}

func load() (known, error) {
	var k known
	if err := yaml.UnmarshalStrict(knownFile, &k); err != nil {
		return k, fmt.Errorf("read what virtual GPUs are called: %w", err)
	}
	for i := range k.Resources {
		form, err := regexp.Compile(k.Resources[i].Name)
		if err != nil {
			return k, fmt.Errorf("read what virtual GPUs are called: %w", err)
		}
		k.Resources[i].form = form
	}
	return k, nil
}

// what says what a resource is; empty for one that is not virtual.
func (k known) what(resource string) string {
	for _, r := range k.Resources {
		if r.form.MatchString(resource) {
			return r.What
		}
	}
	return ""
}

// Check is the check.
type Check struct {
	deps  standing.Deps
	nodes []string
	image string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site.
func New(s *site.Site, _ *profile.Profile, deps standing.Deps) *Check {
	c := &Check{deps: deps.WithDefaults(), image: s.Telemetry.LoadImage} // the pods only sleep
	for _, n := range s.Inventory.Nodes {
		c.nodes = append(c.nodes, n.Name)
	}
	return c
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Describe says what the check would do.
func (c *Check) Describe() []string {
	return []string{
		fmt.Sprintf("see which of %d nodes offer virtual GPUs: as resources, by their labels, through DRA", len(c.nodes)),
		"where one does, create a pod with one, and see it run; and one that asks for more than any node has, and see it refused",
	}
}

// Observe implements check.Check. What it created is gone when it returns, but for the
// run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.look) //nolint:wrapcheck // says of what
}
