package pools

import (
	"context"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "advanced_inference_ingress"

// Group of the API, and the one that it had before it was stable.
const (
	group    = "inference.networking.k8s.io"
	alpha    = "inference.networking.x-k8s.io"
	resource = "inferencepools"
)

// Check is the check.
type Check struct{ deps standing.Deps }

var _ check.Check = (*Check)(nil)

// New makes the check.
func New(_ *site.Site, _ *profile.Profile, deps standing.Deps) *Check {
	return &Check{deps: deps.WithDefaults()}
}

// Name implements check.Check.
func (*Check) Name() string { return Name }

// Describe says what the check would do.
func (*Check) Describe() []string {
	return []string{
		"see that " + group + "/v1 is served, with " + resource,
		"see an InferencePool that is accepted and resolved for a programmed Gateway, its endpoint picker and model servers ready",
		"where there is one, ask for its models and for one token through the Gateway's Service",
	}
}

// Observe implements check.Check. It creates nothing.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, look) //nolint:wrapcheck // says of what
}
