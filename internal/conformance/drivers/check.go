package drivers

import (
	"context"
	_ "embed" // what maintains drivers
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "driver_runtime_management"

//go:embed operands.yaml
var operandsFile []byte

// operand is a DaemonSet that installs or verifies a part of the stack.
type operand struct {
	// App is the label app of its pods.
	App    string `json:"app"`
	Does   string `json:"does"`
	Source string `json:"source"`
}

// operands are the known ones.
func operands() ([]operand, error) {
	var out []operand
	if err := yaml.UnmarshalStrict(operandsFile, &out); err != nil {
		return nil, fmt.Errorf("read what maintains drivers: %w", err)
	}
	return out, nil
}

// Check is the check.
type Check struct {
	deps  standing.Deps
	nodes []string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site.
func New(s *site.Site, _ *profile.Profile, deps standing.Deps) *Check {
	c := &Check{deps: deps.WithDefaults()}
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
		fmt.Sprintf("see driverVersion and cudaDriverVersion of every device in the ResourceSlices of %d nodes, and that all are one", len(c.nodes)),
		"see that GPU feature discovery's labels of each node say the same",
		"see which DaemonSets install, maintain and verify drivers and container toolkit, and that all of their pods are ready",
	}
}

// Observe implements check.Check. It creates nothing.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.look) //nolint:wrapcheck // says of what
}
