package validate_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// byGate are faults of the gates and of the chain that requirements must fail of, too.
// Node autoscaling needs pod autoscaling: faults of the chain before its nodes belong to both.
// A check that creates objects under adapter-down cannot remove its namespace: Kubernetes deletes
// no namespace while an aggregated API does not answer.
var byGate = map[string][]string{
	"half-gang": {"gang_scheduling"}, "no-gang-scheduler": {"gang_scheduling"}, "exporter-down": {"accelerator_metrics"},
	"adapter-rule-wrong": {"pod_autoscaling"}, "hpa-target-unreachable": {"pod_autoscaling"},
	"adapter-down": {"pod_autoscaling"}, "pool-limit-zero": {"cluster_autoscaling"},
}

// quick are requirements that are shown in seconds: those that a fault does not
// concern must still pass.
var quick = []string{"dra_support", "ai_inference", "gang_scheduling", "accelerator_metrics", "secure_accelerator_access"}

// slow are others that must pass with a related fault.
var slow = map[string][]string{
	"service-rule-wrong": {"pod_autoscaling"}, "adapter-rule-wrong": {"ai_service_metrics"},
	"hpa-target-unreachable": {"ai_service_metrics"}, "pool-limit-zero": {"pod_autoscaling"},
}

// set are options of faults that are known in seconds with them, and in minutes without.
var set = map[string]string{"gateway-not-programmed": "reason=AddressNotUsable"}

// Each fault of a requirement fails the check of that requirement, with the suspect that
// it is known by, and no other.
func TestEveryFaultFailsItsRequirement(t *testing.T) {
	suite.Require(t, suite.All)
	const name = "faults"
	lab(t, name)
	var catalogue struct {
		Kinds []struct{ Kind, Requirement string }
	}
	listed := program.Run(t.Context(), "lab", "fault", "list", "--kinds", "--name", name, "-o", "json")
	if err := json.Unmarshal([]byte(listed.Stdout), &catalogue); err != nil {
		t.Fatalf("%v: %s", err, listed.Stderr)
	}
	failed := map[string]bool{}
	for _, k := range catalogue.Kinds {
		requirements := byGate[k.Kind]
		if k.Requirement != "" {
			requirements = []string{k.Requirement}
		}
		if len(requirements) == 0 {
			continue
		}
		for _, r := range requirements {
			failed[r] = true
		}
		t.Run(k.Kind, func(t *testing.T) { failsAlone(t, name, k.Kind, requirements) })
	}
	for _, r := range []string{
		"dra_support", "gang_scheduling", "cluster_autoscaling", "pod_autoscaling", "accelerator_metrics",
		"ai_service_metrics", "secure_accelerator_access", "ai_inference", "robust_controller",
	} {
		if !failed[r] {
			t.Errorf("no fault is of %s", r)
		}
	}
}

// failsAlone puts a fault into a lab: these requirements fail, and the others do not.
func failsAlone(t *testing.T, name, kind string, requirements []string) {
	t.Helper()
	var fault struct{ ID, Target, Suspect string }
	args := []string{"lab", "fault", "add", kind, "--name", name, "-o", "json"}
	if option := set[kind]; option != "" {
		args = append(args, "--set", option)
	}
	added := program.Run(t.Context(), args...)
	if err := json.Unmarshal([]byte(added.Stdout), &fault); err != nil {
		t.Fatalf("%v: %s", err, added.Stderr)
	}
	defer program.Run(t.Context(), "lab", "fault", "clear", "--all", "--name", name)
	suspect, err := regexp.Compile(fault.Suspect)
	if err != nil {
		t.Fatal(err)
	}
	for _, requirement := range requirements {
		r, _ := validate(t, 1, "--lab", name, "--step", requirement)
		checks := r.Steps[0].Checks
		if len(checks) != 1 || checks[0].Gate != requirement || checks[0].Verdict != "failed" || len(checks[0].Findings) == 0 {
			t.Fatalf("%+v", checks)
		}
		f := checks[0].Findings[0]
		t.Logf("%s: %s: %s", requirement, f.Suspect, checks[0].Reason)
		// Of a gate's fault, the gate names the suspect; a requirement may see less of it.
		if byGate[kind] == nil && !suspect.MatchString(f.Suspect) {
			t.Errorf("the suspect is %q, want %s", f.Suspect, fault.Suspect)
		}
	}
	if slices.Contains(requirements, "gang_scheduling") {
		return // other checks need gang scheduling too
	}
	for _, other := range append(slices.Clone(quick), slow[kind]...) {
		if slices.Contains(requirements, other) {
			continue
		}
		code := 0
		if kind == "adapter-down" { // Kubernetes deletes no namespace while an aggregated API does not respond
			code = 3
		}
		r, _ := validate(t, code, "--lab", name, "--step", other)
		if checks := r.Steps[0].Checks; len(checks) != 1 || checks[0].Verdict != "passed" {
			t.Errorf("%s: %+v", other, checks)
		}
	}
}
