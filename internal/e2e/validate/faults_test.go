package validate_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// byGate are faults of the gates that a requirement must fail of, too.
var byGate = map[string]string{
	"half-gang": "gang_scheduling", "no-gang-scheduler": "gang_scheduling", "exporter-down": "accelerator_metrics",
}

// quick are requirements that are shown in seconds: those that a fault is not of must
// still be passed beside it.
var quick = []string{"dra_support", "ai_inference", "gang_scheduling", "accelerator_metrics", "secure_accelerator_access"}

// Each fault of a requirement fails the check of that requirement, with the suspect that
// it is known by, and no other.
func TestEveryFaultFailsItsRequirement(t *testing.T) {
	if os.Getenv("FIRSTLIGHT_SOAK") == "" {
		t.Skip("minutes: make soak")
	}
	const name = "faults"
	lab(t, name)
	var catalogue struct {
		Kinds []struct{ Kind, Requirement string }
	}
	listed := program.Run(t.Context(), "lab", "fault", "list", "--kinds", "--name", name, "-o", "json")
	if err := json.Unmarshal([]byte(listed.Stdout), &catalogue); err != nil {
		t.Fatalf("%v: %s", err, listed.Stderr)
	}
	n := 0
	for _, k := range catalogue.Kinds {
		requirement := k.Requirement
		if requirement == "" {
			requirement = byGate[k.Kind]
		}
		if requirement == "" {
			continue
		}
		n++
		t.Run(k.Kind, func(t *testing.T) {
			var fault struct{ ID, Target, Suspect string }
			added := program.Run(t.Context(), "lab", "fault", "add", k.Kind, "--name", name, "-o", "json")
			if err := json.Unmarshal([]byte(added.Stdout), &fault); err != nil {
				t.Fatalf("%v: %s", err, added.Stderr)
			}
			defer program.Run(t.Context(), "lab", "fault", "clear", "--all", "--name", name)
			r, _ := validate(t, 1, "--lab", name, "--step", requirement)
			checks := r.Steps[0].Checks
			if len(checks) != 1 || checks[0].Gate != requirement || checks[0].Verdict != "failed" || len(checks[0].Findings) == 0 {
				t.Fatalf("%+v", checks)
			}
			t.Logf("%s: %s", checks[0].Findings[0].Suspect, checks[0].Reason)
			if suspect, err := regexp.Compile(fault.Suspect); k.Requirement != "" && (err != nil || !suspect.MatchString(checks[0].Findings[0].Suspect)) {
				t.Errorf("the suspect is %q, want %s (%v)", checks[0].Findings[0].Suspect, fault.Suspect, err)
			}
			for _, other := range quick {
				if other == requirement || k.Requirement == "" && slices.Contains([]string{"gang_scheduling"}, requirement) {
					continue // what else needs gangs has none
				}
				if _, r := validate(t, 0, "--lab", name, "--step", other); r.Code != 0 {
					t.Errorf("%s exited %d", other, r.Code)
				}
			}
		})
	}
	if n < 8 {
		t.Errorf("%d faults of requirements", n)
	}
}
