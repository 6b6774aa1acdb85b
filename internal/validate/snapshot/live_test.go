package snapshot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate/snapshot"
	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/recipes"
)

// constraintsOf are those of the recipe of some criteria.
func constraintsOf(t *testing.T, c criteria.Criteria) []model.Constraint {
	t.Helper()
	loaded, problems := tree.Load(recipes.FS, tree.Options{Label: "recipes"})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	r, err := resolve.Resolve(loaded, c, resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Constraints) < 3 {
		t.Fatalf("recipe of %+v: constraints %+v", c, r.Constraints)
	}
	return r.Constraints
}

// observe runs the step as run and returns the agents that answered.
func observe(t *testing.T, l *labtest.Lab, run string, c criteria.Criteria) (j check.Judgement, agents []string) {
	t.Helper()
	s := snapshot.New(snapshot.Demand{
		Nodes: []string{"gpu-01", "gpu-02"}, GPUs: 8, GPUsSource: "the lab", Products: []string{"NVIDIA H100 80GB HBM3"}, Constraints: constraintsOf(t, c),
	}, snapshot.Deps{Cluster: l.Open, RunID: run, Image: "nvcr.io/nvidia/cloud-native/dcgm:4.4.1-1-ubuntu22.04", Timeout: 3 * time.Minute})
	rec := &labtest.Recorder{}
	if err := s.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return s.Judge(rec.Observations()), answered(rec.Observations())
}

// answered are the nodes whose agents answered.
func answered(obs []check.Observation) (nodes []string) {
	for _, o := range obs {
		if o.Kind == "node-agent" && o.Err == "" {
			nodes = append(nodes, o.Target)
		}
	}
	return nodes
}

// The step passes on clusters of the shapes that recipes ask for, with node and GPU read by pods
// where neither labels nor DRA slices tell, and fails where one node has another operating system.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	guest := l.Guest(t, snapshot.Rules())
	for _, tt := range []struct {
		name, image string
		criteria    criteria.Criteria
		always      bool
	}{
		{"eks", "ubuntu-24.04", criteria.Criteria{Service: "eks", Accelerator: "h100", OS: "ubuntu", Intent: "training"}, true},
		{"eks-amazonlinux", "amazonlinux-2023", criteria.Criteria{Service: "eks", Accelerator: "h100", OS: "amazonlinux", Intent: "inference"}, false},
		{"gke", "cos-121", criteria.Criteria{Service: "gke", Accelerator: "h100", OS: "cos", Intent: "training"}, false},
		{"aks", "ubuntu-22.04", criteria.Criteria{Service: "aks", Accelerator: "h100", OS: "ubuntu", Intent: "training"}, false},
		{"self-managed", "ubuntu-24.04", criteria.Criteria{Service: "generic", Accelerator: "h100", OS: "ubuntu", Intent: "training"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.always {
				suite.Require(t, suite.All)
			}
			defer l.Fault(t, world.Fault{Kind: "operating-system", Options: map[string]string{"image": tt.image}})()
			if j, agents := observe(t, guest, "shape-"+tt.name, tt.criteria); j.Verdict != check.Passed || len(agents) > 0 {
				t.Errorf("by labels and slices: %s: %s, agents %v", j.Verdict, j.Reason, agents)
			}
			if !tt.always {
				return
			}
			suite.RequireFault(t, "internal/validate/snapshot TestLive", "os-labels-missing")
			defer pluginOnly(t, l)()
			if j, agents := observe(t, guest, "shape-agents-"+tt.name, tt.criteria); j.Verdict != check.Passed || len(agents) != 2 {
				t.Errorf("by pods: %s: %s, agents %v", j.Verdict, j.Reason, agents)
			}
			defer l.Fault(t, world.Fault{Kind: "operating-system", Target: "gpu-02", Options: map[string]string{"image": "cos-121"}})()
			j, _ := observe(t, guest, "shape-other-"+tt.name, tt.criteria)
			if j.Verdict != check.Failed || len(j.Findings) == 0 || j.Findings[0].Suspect != "gpu-02" || !strings.Contains(j.Reason, "is cos, and the recipe requires ubuntu") {
				t.Errorf("one node with another operating system: %s: %s", j.Verdict, j.Reason)
			}
			l.Hold(t, "gpu-01", 8)
			j, _ = observe(t, guest, "shape-held-"+tt.name, tt.criteria)
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == "gpu-01" && strings.Contains(f.Message, "gave no answer")
			}) {
				t.Errorf("a node without a free GPU: %s: %+v", j.Verdict, j.Findings)
			}
		})
	}
}

// pluginOnly leaves a cluster with neither DRA slices nor labels of the operating system.
func pluginOnly(t *testing.T, l *labtest.Lab) (repair func()) {
	t.Helper()
	var repairs []func()
	for _, f := range []world.Fault{{Kind: "os-labels-missing"}, {Kind: "dra-slice-missing", Target: "gpu-01"}, {Kind: "dra-slice-missing", Target: "gpu-02"}} {
		repairs = append(repairs, l.Fault(t, f))
	}
	return func() {
		for _, repair := range repairs {
			repair()
		}
	}
}
