package sandbox

import (
	"context"
	_ "embed" // the handlers that are no sandboxes
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "workload_sandboxing"

//go:embed handlers.yaml
var handlersFile []byte

// handler is one that shares the node's kernel.
type handler struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

func sharing() ([]handler, error) {
	var out []handler
	if err := yaml.UnmarshalStrict(handlersFile, &out); err != nil {
		return nil, fmt.Errorf("read which handlers are no sandboxes: %w", err)
	}
	return out, nil
}

// Check is the check.
type Check struct {
	deps  standing.Deps
	image string
}

var _ check.Check = (*Check)(nil)

// New makes the check for a site.
func New(s *site.Site, _ *profile.Profile, deps standing.Deps) *Check {
	return &Check{deps: deps.WithDefaults(), image: s.Telemetry.LoadImage} // any image with a shell will do
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Describe says what the check would do.
func (*Check) Describe() []string {
	return []string{
		"see which RuntimeClasses there are, beside those of the container runtime itself",
		"create a pod under one, and a pod under none on the same node, and see from their logs that they run on two kernels",
	}
}

// Observe implements check.Check. What it created is gone when it returns, but for the
// run's PriorityClass.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, c.look) //nolint:wrapcheck // says of what
}
