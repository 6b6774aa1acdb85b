package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

func named(c scenario.Scenario, name string) scenario.Scenario {
	c.Recipe = name
	return c
}

func TestClassesOf(t *testing.T) {
	t.Parallel()
	got := schedule.ClassesOf([]schedule.Member{{"h100-eks-training", "x"}, {"z", "y"}, {"eks-training", "x"}, {"broken", ""}, {"bks-training", "x"}, {"longer", "y"}})
	var text []string
	for _, c := range got {
		text = append(text, fmt.Sprintf("%s: %s", c.Representative, strings.Join(c.Members, " ")))
	}
	if want := "bks-training: bks-training eks-training h100-eks-training|z: longer z"; strings.Join(text, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(text, "|"), want)
	}
	if len(schedule.ClassesOf(nil)) != 0 {
		t.Error("classes of nothing")
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	base := scenariotest.Scenario(t, "training")
	for name, tt := range map[string]struct {
		recipe func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component
		want   []schedule.Difference
	}{
		"half the GPUs": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			n.Accelerated.Devices[0].Quantity, n.Accelerated.Devices[0].Request = 4, 4
			return c
		}, []schedule.Difference{
			{"node wrong-arch-0 allocatable nvidia.com/gpu", "8", "4"},
			{"nodes gpu-0, gpu-1, gpu-2, gpu-3 grants", "component aws-efa-k8s-device-plugin, quantity 32, resource vpc.amazonaws.com/efa; component gpu-operator, quantity 8, resource nvidia.com/gpu", "component aws-efa-k8s-device-plugin, quantity 32, resource vpc.amazonaws.com/efa; component gpu-operator, quantity 4, resource nvidia.com/gpu"},
			{"nodes half-gang-0, half-gpus-0 allocatable nvidia.com/gpu", "4", "2"},
			{"probe requests nvidia.com/gpu", "8", "4"},
			{"control half-gang pods requests nvidia.com/gpu", "4", "2"},
		}},
		"a toleration": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[1].Workloads[1].Pod.Tolerations = nil
			return c
		}, []schedule.Difference{{"gpu-operator/driver tolerations", "key nvidia.com/gpu, operator Exists", schedule.None}}},
		"a component": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			return append(c, footprint.Component{Name: "kueue", Workloads: []footprint.Workload{{Kind: "Deployment", Name: "kueue"}}})
		}, []schedule.Difference{{"kueue", schedule.None, schedule.Present}}},
		"a workload": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[3].Workloads = c[3].Workloads[1:]
			return c
		}, []schedule.Difference{{"monitoring/grafana", schedule.Present, schedule.None}}},
		"a selector": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[3].Workloads[0].Pod.NodeSelector = map[string]string{scenariotest.NodeType: "", "zone": "a"}
			return c
		}, []schedule.Difference{
			{"monitoring/grafana node selector aicr.run/node-type", "system", `""`},
			{"monitoring/grafana node selector zone", schedule.None, "a"},
		}},
		"a publication": {func(_ *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			c[0].Publishes = []footprint.Publication{{OnNodesWith: map[string]string{"a": "b"}, Labels: map[string]string{"c": "d"}}}
			return c
		}, []schedule.Difference{{"node-feature-discovery publishes", schedule.None, "labels (c d), onNodesWith (a b)"}}},
		"a taint": {func(n *nodeprofile.Nodes, c []footprint.Component) []footprint.Component {
			n.System.Taints = []corev1.Taint{{Key: "system", Effect: corev1.TaintEffectPreferNoSchedule}}
			return c
		}, []schedule.Difference{{"nodes system-0, system-1 taints", schedule.None, "effect PreferNoSchedule, key system"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := scenariotest.Nodes()
			components := tt.recipe(&nodes, scenariotest.Components())
			other := scenariotest.Build(t, "training", components, nodes)
			got := schedule.Diff(base, other)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", lines(got), lines(tt.want))
			}
			back := schedule.Diff(other, base)
			if len(back) != len(got) {
				t.Fatalf("the other way round: %s", lines(back))
			}
			for i, d := range back {
				if d.A != got[i].B || d.B != got[i].A {
					t.Errorf("the other way round: %v", d)
				}
			}
		})
	}
	inference := schedule.Diff(base, scenariotest.Scenario(t, "inference"))
	if want := []schedule.Difference{{"probe kind", "gang", "replicas"}, {"control half-gang", "applies", "not applicable"}}; !slices.Equal(inference, want) {
		t.Errorf("training and inference: %s", lines(inference))
	}
	if d := schedule.Diff(base, named(scenariotest.Scenario(t, "training"), "another")); len(d) != 0 {
		t.Errorf("one class, and yet %v", d)
	}
}

func lines(list []schedule.Difference) string {
	var out []string
	for _, d := range list {
		out = append(out, fmt.Sprintf("%s: %s / %s", d.Path, d.A, d.B))
	}
	return strings.Join(out, "\n")
}

func TestDisagreements(t *testing.T) {
	t.Parallel()
	classes := []schedule.Class{
		{Fingerprint: "one", Representative: "a", Members: []string{"a", "aa"}},
		{Fingerprint: "two", Representative: "b", Members: []string{"b", "bb"}},
		{Fingerprint: "three", Representative: "c", Members: []string{"c", "cc"}},
	}
	got := schedule.Disagreements(classes, map[string]check.Verdict{"a": check.Failed, "aa": check.Failed, "b": check.Passed, "bb": check.Failed, "c": check.Passed})
	if len(got) != 2 {
		t.Fatalf("disagreements %v", got)
	}
	if want := "class of b (two): b passed; bb failed"; got[0].String() != want {
		t.Errorf("got %q, want %q", got[0], want)
	}
	if want := "class of c (three): c passed; cc without a verdict"; got[1].String() != want {
		t.Errorf("got %q, want %q", got[1], want)
	}
}

// TestOurOwnTree: every recipe is in exactly one class, there are fewer classes
// than recipes, and two recipes are explained apart exactly when they are in two.
func TestOurOwnTree(t *testing.T) {
	t.Parallel()
	loaded, problems, err := recipe.Open("", tree.Options{})
	if err != nil || problems.Err() != nil {
		t.Fatal(err, problems)
	}
	source, problems := schedule.Open(loaded)
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	var scenarios []scenario.Scenario
	var members []schedule.Member
	for _, name := range source.Names() {
		c, err := source.Case(name)
		if err != nil || len(c.Problems) > 0 {
			t.Fatalf("%s: %v %v", name, err, c.Problems)
		}
		scenarios = append(scenarios, c.Scenario)
		members = append(members, schedule.Member{Recipe: name, Fingerprint: c.Fingerprint})
	}
	classes := schedule.ClassesOf(members)
	if len(classes) == 0 || len(classes) >= len(scenarios) {
		t.Errorf("%d classes of %d recipes", len(classes), len(scenarios))
	}
	in := map[string]string{}
	for _, c := range classes {
		for _, m := range c.Members {
			if in[m] != "" {
				t.Errorf("%s is in two classes", m)
			}
			in[m] = c.Fingerprint
		}
		if !slices.Contains(c.Members, c.Representative) {
			t.Errorf("%s stands for a class that it is not in", c.Representative)
		}
	}
	if len(in) != len(scenarios) {
		t.Errorf("%d of %d recipes are in a class", len(in), len(scenarios))
	}
	pairs := 0
	for i, a := range scenarios {
		for j := i + 1; j < len(scenarios); j += 1 + (7*i+3*j)%89 {
			b := scenarios[j]
			apart := schedule.Diff(a, b)
			if (len(apart) == 0) != (in[a.Recipe] == in[b.Recipe]) {
				t.Errorf("%s and %s: %d differences", a.Recipe, b.Recipe, len(apart))
			}
			for _, d := range apart {
				if d.Path == "nodes" {
					t.Errorf("%s and %s: nothing is known to tell them apart", a.Recipe, b.Recipe)
				}
			}
			pairs++
		}
	}
	t.Logf("%d recipes, %d classes, %d pairs", len(scenarios), len(classes), pairs)
}

func TestSavings(t *testing.T) {
	t.Parallel()
	classes := []schedule.Class{{Members: []string{"eks", "h100"}}, {Members: []string{"b200", "b200-b"}}, {Members: []string{"gke", "aks"}}, {Members: []string{"a100"}}}
	got := schedule.Savings(classes, func(name string) bool { return len(name) == 3 })
	if want := []schedule.Saving{{1, 3, 2}, {2, 4, 2}, {3, 7, 7}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
