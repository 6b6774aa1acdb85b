package drift

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// StackStep is the name of the step that compares the stack.
const StackStep = "stack"

// Stack is what figures are valid for: sorted values by component.
type Stack map[string][]string

// Add adds a value, unless it is empty.
func (s Stack) Add(component, value string) {
	if value != "" && !slices.Contains(s[component], value) {
		s[component] = append(s[component], value)
		slices.Sort(s[component])
	}
}

// stack is the check of that name.
type stack struct {
	site     *site.Site
	profile  *profile.Profile
	baseline Baseline
	// versions are observed as gate node observed those of the baseline.
	versions *node.Versions
}

func (s stack) Name() string { return StackStep }

func (s stack) Describe() []string {
	return append([]string{fmt.Sprintf("on %d hosts, and compare the versions with the baseline:", len(s.site.Inventory.Nodes))}, s.versions.Describe()...)
}

// Observe implements check.Check.
func (s stack) Observe(ctx context.Context, rec check.Recorder) error {
	return s.versions.Observe(ctx, rec)
}
