package gate_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func example(t *testing.T) (*site.Site, *profile.Profile) {
	t.Helper()
	s, err := site.Parse("example", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func TestPlaybookIsTheSitesGatesInOrder(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	s.NotApplicable = map[string]string{"inference": "a training-only cluster"}
	plan, err := gate.Playbook(s, p, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	order, err := plan.Order()
	if err != nil {
		t.Fatal(err)
	}
	gpus := len(s.Inventory.Nodes) * int(p.Node.GPUs.Value)
	claims := map[string]int{"gpustack": gpus, "telemetry": gpus, "collective": gpus, "training": gpus, "inference": s.Workloads.Inference.GPUs}
	var names []string
	for i, step := range order {
		names = append(names, step.Name())
		want := site.Gates()[max(0, i-1)]
		if step.Name() == "inference" {
			want = "collective"
			if step.NotApplicable == "" {
				t.Error("inference is applicable, the site says it is not")
			}
		}
		if i > 0 && !slices.Equal(step.Needs, []string{want}) {
			t.Errorf("%s needs %v, want %s", step.Name(), step.Needs, want)
		}
		if step.GPUs != claims[step.Name()] {
			t.Errorf("%s claims %d GPUs, want %d", step.Name(), step.GPUs, claims[step.Name()])
		}
		if len(step.Describe) == 0 {
			t.Errorf("%s does not say what it would run", step.Name())
		}
	}
	if !slices.Equal(names, site.Gates()) {
		t.Errorf("gates %v, want %v", names, site.Gates())
	}
}

func TestAPlaybookIncludesWhatItIsTold(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	for _, name := range gate.Extras() {
		plan, err := gate.Playbook(s, p, gate.Access{}, name)
		if err != nil {
			t.Fatal(err)
		}
		step, ok := plan.Step(name)
		if !ok || len(step.Needs) == 0 || len(step.Describe) == 0 || len(plan.Steps) != len(site.Gates())+1 {
			t.Errorf("%s: %+v in a plan of %d steps", name, step, len(plan.Steps))
		}
		// The chain removes the Lease and the objects of the run when it ends: no gate may still use them.
		if !slices.Equal(step.After, site.Gates()) {
			t.Errorf("%s waits for %v, want every gate: %v", name, step.After, site.Gates())
		}
		if !slices.ContainsFunc(gate.Checks(s, p), func(c check.Check) bool { return c.Name() == name }) {
			t.Errorf("%s can not be judged again", name)
		}
	}
	if _, err := gate.Playbook(s, p, gate.Access{}, "autoscal"); !errors.Is(err, gate.ErrNoExtra) {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestEveryLoweredDemandOfASiteIsReported(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	reported := func() map[string]int {
		out := map[string]int{}
		for _, c := range gate.Checks(s, p) {
			if l, ok := c.(plan.Lowers); ok {
				out[c.Name()] = len(l.Lowered())
			}
		}
		return out
	}
	if got, want := reported(), map[string]int{"facility": 0, "fabric": 0, "node": 0, "gpustack": 0, "telemetry": 0, "collective": 0, "training": 0, "inference": 0, "autoscale": 0}; !maps.Equal(got, want) {
		t.Errorf("the example lowers %v, want %v", got, want)
	}
	s.Fabric.Soak, s.Telemetry.ScrapeInterval = site.Duration(time.Second), site.Duration(time.Hour)
	s.Workloads.Collective.MinBytes, s.Workloads.Collective.MaxBytes = "1G", "2G"
	s.Workloads.Training.MinMFU, s.Workloads.Training.Nodes, s.Workloads.Training.Steps = 0.1, 1, 30
	s.Workloads.Training.Checkpoint, s.Facility.Redfish = nil, nil
	i := &s.Workloads.Inference
	i.Rate, i.Concurrency, i.Requests, i.InputTokens, i.OutputTokens, i.GoldenPrefix = 1, 1, 1, 1, 2, "Paris"
	i.TTFTp99, i.TPOTp99, i.ITLp99 = site.Duration(time.Minute), site.Duration(time.Minute), site.Duration(time.Minute)
	s.GPUStack.ManagedBy, s.GPUStack.Operands = site.ManagedByProvider, nil
	s.Autoscale.Window, s.Autoscale.Gang, s.NVLink.IMEX = site.Duration(time.Second), 1, site.IMEXNone
	if got, want := reported(), map[string]int{"facility": 1, "fabric": 1, "node": 1, "gpustack": 1, "telemetry": 1, "collective": 2, "training": 4, "inference": 9, "autoscale": 2}; !maps.Equal(got, want) {
		t.Errorf("lowered demands: %v, want %v", got, want)
	}
}

func TestTheChainAloneNeedsNoGate(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	plan, err := gate.Chain(s, p, autoscale.Options{}, gate.Access{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Steps) != 1 || plan.Steps[0].Name() != autoscale.Name || len(plan.Steps[0].Needs) > 0 || len(plan.Steps[0].Describe) == 0 {
		t.Errorf("the plan is %+v", plan)
	}
}

// TestNothingObservedIsNeverAPass judges every gate on nothing, and on an
// observation of another check.
func TestNothingObservedIsNeverAPass(t *testing.T) {
	t.Parallel()
	s, p := example(t)
	checks := gate.Checks(s, p)
	if want := len(site.Gates()) + len(gate.Extras()); len(checks) != want {
		t.Fatalf("%d checks, want %d", len(checks), want)
	}
	for _, c := range checks {
		for name, obs := range map[string][]check.Observation{
			"nothing":        nil,
			"another check":  {{Kind: "weather", Target: "outside", Figures: []byte(`{"rain":true}`)}},
			"empty figures":  {{Kind: "nvidia-smi"}, {Kind: "sminfo"}, {Kind: "nccl-tests"}, {Kind: "vllm-load"}},
			"figures of {}":  {{Kind: "site-facility", Figures: []byte(`{}`)}, {Kind: "iblinkinfo", Figures: []byte(`[]`)}, {Kind: "nodes", Figures: []byte(`{}`)}},
			"broken figures": {{Kind: "site-facility", Figures: []byte(`{`)}},
		} {
			if j := c.Judge(obs); j.Verdict != check.Failed && j.Verdict != check.Unobserved {
				t.Errorf("%s on %s is %q: %s", c.Name(), name, j.Verdict, j.Reason)
			}
		}
	}
}

// A patch that takes GPUs from a gate's pods is found before the run, whichever gate it is.
func TestAPatchOfWhatAGateNeedsIsRefused(t *testing.T) {
	t.Parallel()
	fewer := map[string]any{"spec": map[string]any{"priorityClassName": "system-node-critical"}}
	for name, set := range map[string]func(*site.Site){
		"gpustack":   func(s *site.Site) { s.Workloads.Pod = fewer },
		"telemetry":  func(s *site.Site) { s.Telemetry.Pod = fewer },
		"collective": func(s *site.Site) { s.Workloads.Collective.Pod = fewer },
		"training":   func(s *site.Site) { s.Workloads.Training.Pod = fewer },
		"inference":  func(s *site.Site) { s.Workloads.Inference.Pod = fewer },
	} {
		s, p := example(t)
		set(s)
		_, err := gate.Playbook(s, p, gate.Access{})
		if err == nil || !strings.Contains(err.Error(), "patch the pods of "+name) || !strings.Contains(err.Error(), "spec.priorityClassName") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
