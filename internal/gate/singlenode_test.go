package gate_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// A plan of one machine has every gate: three that run, and the others with the reason why they
// do not apply.
func TestSingleNodePlaybook(t *testing.T) {
	t.Parallel()
	for name, applicable := range map[string][]string{
		"h100-sxm":      {"fabric", "node", "collective"},
		"h100-nvl":      {"fabric", "node", "collective"},
		"gb200-nvl72":   {"fabric", "node", "collective"},
		"a3-highgpu-1g": {"node"},
		"l40s":          {"node"},
	} {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := site.Parse(name, site.SingleNodeFile("box", p))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := gate.Playbook(s, p, gate.Access{})
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		for i, step := range plan.Steps {
			if step.Name() != site.Gates()[i] {
				t.Errorf("%s: step %d is %s, want %s", name, i, step.Name(), site.Gates()[i])
			}
			if step.NotApplicable != "" {
				continue
			}
			if runs >= len(applicable) || step.Name() != applicable[runs] || len(step.Describe) == 0 {
				t.Errorf("%s: %s runs %q, want %v", name, step.Name(), step.Describe, applicable)
			}
			runs++
		}
		if runs != len(applicable) {
			t.Errorf("%s: %d gates run, want %v", name, runs, applicable)
		}
		if _, err := gate.Playbook(s, p, gate.Access{}, "autoscale"); err == nil {
			t.Errorf("%s: the autoscaling chain needs a cluster", name)
		}
	}
}
