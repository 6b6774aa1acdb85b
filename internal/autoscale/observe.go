package autoscale

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/check"
)

// Observe implements check.Check.
func (c *Chain) Observe(context.Context, check.Recorder) error {
	return errors.New("the chain can not be observed yet")
}

// Describe says what would be run, a line each.
func (c *Chain) Describe() []string { return []string{"the autoscaling chain"} }
