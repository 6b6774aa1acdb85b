package runner

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// open is an arena on the shared control plane.
func open(t *testing.T) *Runner {
	t.Helper()
	a, err := Start(t.Context(), plane(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// podsOf are the pods of a workload.
func podsOf(s snapshot.State, component, workloadStatus string) []snapshot.Pod {
	var out []snapshot.Pod
	for _, p := range s.Pods {
		if p.Component == component && p.Workload == workloadStatus {
			out = append(out, p)
		}
	}
	return out
}

// In a scenario without defects all pods run on their nodes, all labels and resources are present,
// the gang is bound completely, and each control is refused for its reason.
func TestGood(t *testing.T) {
	a := open(t)
	c := realistic(2)
	s, err := a.Run(t.Context(), c, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	if !s.Converged || s.NotConverged != "" || s.ResourceVersion == "" || len(s.Nodes) != len(c.Nodes) {
		t.Errorf("quiet %t (%s) at %s with %d nodes, want quiet with %d", s.Converged, s.NotConverged, s.ResourceVersion, len(s.Nodes), len(c.Nodes))
	}
	for _, component := range c.Components {
		for _, w := range component.Workloads {
			want := int(w.Replicas)
			switch {
			case w.Kind == daemonSet && w.Class == footprint.Any:
				want = 5
			case w.Kind == daemonSet:
				want = 2
			}
			pods := podsOf(s, component.Name, w.Name)
			if len(pods) != want {
				t.Errorf("%s %s has %d pods, want %d", w.Kind, w.Name, len(pods), want)
			}
			for _, p := range pods {
				if p.Phase != "Pending" || p.Node == "" || (w.Class == footprint.System) != strings.HasPrefix(p.Node, "system-") && w.Class != footprint.Any {
					t.Errorf("pod %+v of %s", p, w.Name)
				}
			}
		}
	}
	for _, n := range s.Nodes {
		if !n.Ready {
			t.Errorf("node %s is not ready", n.Name)
		}
		gpus := n.Allocatable["nvidia.com/gpu"]
		if strings.HasPrefix(n.Name, "gpu-") && (gpus.Value() != 8 || n.Labels[scenario.ProductLabel] != "H100") {
			t.Errorf("node %s: %v, %v", n.Name, n.Allocatable, n.Labels)
		}
	}
	testProbe(t, s)
	testControls(t, c, s)
	if j := judge.Judge(c, s); j.Verdict != check.Passed {
		t.Errorf("the judge says %s: %+v", j.Reason, j.Findings)
	}
}

func testProbe(t *testing.T, s snapshot.State) {
	t.Helper()
	for _, p := range podsOf(s, snapshot.OwnerProbe, snapshot.OwnerProbe) {
		if !strings.HasPrefix(p.Node, "gpu-") {
			t.Errorf("pod of the probe: %+v", p)
		}
	}
	bound := map[string]string{}
	for _, g := range s.Gangs {
		bound[g.Owner+"/"+g.Name] = g.Scheduled
	}
	if len(bound) != 2 || bound["probe/probe"] != "True" || bound["control/half-gang"] != "False" {
		t.Errorf("gangs: %+v", s.Gangs)
	}
}

func testControls(t *testing.T, c scenario.Scenario, s snapshot.State) {
	t.Helper()
	for _, control := range c.Controls {
		pods := podsOf(s, snapshot.OwnerControl, control.Name)
		if control.Name == scenario.DropSelector {
			if len(pods) != 5 {
				t.Errorf("%s covers %d nodes, want 5", control.Name, len(pods))
			}
			continue
		}
		if len(pods) != int(control.Workload.Replicas) {
			t.Errorf("%s has %d pods", control.Name, len(pods))
		}
		for _, p := range pods {
			if p.Node != "" || !strings.Contains(p.Message, control.Reason) && !strings.Contains(p.Message, "minCount pods from a gang") {
				t.Errorf("%s: %+v", control.Name, p)
			}
		}
	}
}
