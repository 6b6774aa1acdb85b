package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestMIGRules: the MIG mode of a GPU that has one is known and in effect.
func TestMIGRules(t *testing.T) {
	t.Parallel()
	mig := func(enabled, pending any) map[string]any {
		return map[string]any{"enabled": enabled, "pending": pending}
	}
	rules(t, 2, []checktest.Rule{
		checktest.When("a GPU without MIG is healthy", gpu1("mig", nil)...).Passes(),
		checktest.When("MIG that is off, and stays so, is healthy", gpu1("mig", mig(false, false))...).Passes(),
		checktest.When("MIG that is on, and stays so, is healthy", gpu1("mig", mig(true, true))...).Passes(),
		checktest.When("MIG that the next reset switches on fails", gpu1("mig", mig(false, true))...).Fails("gpu-01/gpu0", "MIG is disabled, and enabled after the next reset"),
		checktest.When("MIG that the next reset switches off fails", gpu1("mig", mig(true, false))...).Fails("gpu-01/gpu0", "MIG is enabled, and disabled after the next reset"),
		checktest.When("MIG without a pending mode is unknown", gpu1("mig", mig(true, nil))...).Unobserved("gpu-01/gpu0", "reports a part of its MIG mode"),
		checktest.When("MIG without a current mode is unknown", gpu1("mig", mig(nil, false))...).Unobserved("gpu-01/gpu0", "reports a part of its MIG mode"),
	})
}
