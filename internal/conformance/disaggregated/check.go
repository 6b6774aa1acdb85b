package disaggregated

import (
	"context"
	_ "embed" // what solutions there are
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name is the requirement's.
const Name = "disaggregated_inference"

//go:embed solutions.yaml
var knownFile []byte

// known is how solutions are recognised.
type known struct {
	Kinds []struct {
		Group    string `json:"group"`
		Resource string `json:"resource"`
		// Ready is the condition that says that an object is.
		Ready  string `json:"ready"`
		What   string `json:"what"`
		Source string `json:"source"`
	} `json:"kinds"`
	Phases []struct {
		Label  string `json:"label"`
		Source string `json:"source"`
	} `json:"phases"`
}

func load() (known, error) {
	var k known
	if err := yaml.UnmarshalStrict(knownFile, &k); err != nil {
		return k, fmt.Errorf("read which solutions there are: %w", err)
	}
	return k, nil
}

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
		"see which operators of disaggregated inference are served (Dynamo, llm-d by KServe, AIBrix, RoleBasedGroup, LeaderWorkerSet), and whether their objects are ready",
		"see pods of the phases prefill and decode, ready beside each other",
		"where there are, ask a Service beside them for its models and for one token",
	}
}

// Observe implements check.Check. It creates nothing.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, look) //nolint:wrapcheck // says of what
}
