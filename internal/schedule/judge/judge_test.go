package judge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

func TestRightPasses(t *testing.T) {
	t.Parallel()
	for _, intent := range []string{"training", "inference", ""} {
		c := scenariotest.Scenario(t, intent)
		j := judge.Judge(c, scenariotest.Simulate(c))
		if j.Verdict != check.Passed || len(j.Findings) != 0 {
			t.Errorf("intent %q: %s: %s %v", intent, j.Verdict, j.Reason, j.Findings)
		}
		controls := 5.0
		if intent != "training" {
			controls = 4
		}
		want := map[string]float64{judge.FigurePods: 40, judge.FigureWorkloads: 13, judge.FigureNodes: float64(len(c.Nodes)), judge.FigureControls: controls}
		for _, f := range j.Figures {
			if f.Value != want[f.Name] || f.Limit != f.Value || f.Unit == "" {
				t.Errorf("intent %q: figure %+v, want %v", intent, f, want[f.Name])
			}
		}
		if len(j.Figures) != len(want) {
			t.Errorf("%d figures", len(j.Figures))
		}
	}
}

// TestNothingMayBeMissing takes every single thing out of a state that passes.
func TestNothingMayBeMissing(t *testing.T) {
	t.Parallel()
	for _, intent := range []string{"training", "inference"} {
		c := scenariotest.Scenario(t, intent)
		good := scenariotest.Simulate(c)
		tried := 0
		try := func(what string, s snapshot.State) {
			tried++
			if j := judge.Judge(c, s); j.Verdict == check.Passed {
				t.Errorf("%s: passes without %s", intent, what)
			}
		}
		for i, p := range good.Pods {
			if p.Component != snapshot.OwnerBarrier {
				s := apart(good)
				s.Pods = slices.Delete(s.Pods, i, i+1)
				try("the pod "+p.Component+"/"+p.Name, s)
			}
		}
		for i, w := range good.Workloads {
			if w.Component != snapshot.OwnerBarrier {
				s := apart(good)
				s.Workloads = slices.Delete(s.Workloads, i, i+1)
				try("the workload "+w.Component+"/"+w.Name, s)
			}
		}
		for i, n := range good.Nodes {
			s := apart(good)
			s.Nodes = slices.Delete(s.Nodes, i, i+1)
			try("the node "+n.Name, s)
		}
		for i, g := range good.Gangs {
			s := apart(good)
			s.Gangs = slices.Delete(s.Gangs, i, i+1)
			try("the gang of "+g.Owner, s)
		}
		for _, control := range c.Controls {
			s := apart(good)
			of := func(owner, name string) bool { return owner == snapshot.OwnerControl && name == control.Name }
			s.Pods = slices.DeleteFunc(s.Pods, func(p snapshot.Pod) bool { return of(p.Component, p.Workload) })
			s.Workloads = slices.DeleteFunc(s.Workloads, func(w snapshot.Workload) bool { return of(w.Component, w.Name) })
			s.Gangs = slices.DeleteFunc(s.Gangs, func(g snapshot.Gang) bool { return of(g.Owner, g.Name) })
			if control.NotApplicable == "" {
				try("the control "+control.Name, s)
			}
		}
		if tried < 60 {
			t.Errorf("%s: only %d things were taken out", intent, tried)
		}
	}
}

// TestNothingMayBeDifferent changes one thing of every pod, workload and node.
func TestNothingMayBeDifferent(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	good := scenariotest.Simulate(c)
	try := func(what string, change func(s *snapshot.State)) {
		s := apart(good)
		change(&s)
		if j := judge.Judge(c, s); j.Verdict == check.Passed {
			t.Errorf("passes with %s", what)
		}
	}
	for i, p := range good.Pods {
		if p.Component == snapshot.OwnerBarrier {
			continue
		}
		name := "the pod " + p.Component + "/" + p.Name
		for _, node := range []string{"", "system-0", "gpu-0", "half-gpus-0", "elsewhere"} {
			may := p.Kind != "DaemonSet" && p.Component != snapshot.OwnerControl && p.Component != snapshot.OwnerProbe && node == "system-0" // one is as good as another
			if p.Node != node && !may && (p.Component != snapshot.OwnerProbe || node != "gpu-0") {
				try(fmt.Sprintf("%s on %q", name, node), func(s *snapshot.State) { s.Pods[i].Node = node })
			}
		}
		if p.Node != "" {
			try(name+" failed", func(s *snapshot.State) { s.Pods[i].Phase = "Failed" })
		}
		try(name+" twice", func(s *snapshot.State) { s.Pods = append(s.Pods, s.Pods[i]) })
		try(name+" of a stranger", func(s *snapshot.State) { s.Pods[i].Component = "stranger" })
	}
	for i, w := range good.Workloads {
		if w.Component == snapshot.OwnerBarrier {
			continue
		}
		name := "the workload " + w.Component + "/" + w.Name
		try(name+" in trouble", func(s *snapshot.State) { s.Workloads[i].Trouble = "quota exceeded" })
		try(name+" twice", func(s *snapshot.State) { s.Workloads = append(s.Workloads, s.Workloads[i]) })
		if w.Kind != "Job" && w.Component != snapshot.OwnerControl {
			try(name+" not observed", func(s *snapshot.State) { s.Workloads[i].Generation = 2 })
			try(name+" wanting more", func(s *snapshot.State) { s.Workloads[i].Desired++ })
			try(name+" with a pod that its controller did not see", func(s *snapshot.State) { s.Workloads[i].Made-- })
		}
	}
	for i, n := range good.Nodes {
		try(n.Name+" not Ready", func(s *snapshot.State) { s.Nodes[i].Ready = false })
		try(n.Name+" twice", func(s *snapshot.State) { s.Nodes = append(s.Nodes, s.Nodes[i]) })
		for k := range n.Labels {
			if k != "kubernetes.io/hostname" {
				try(n.Name+" without "+k, func(s *snapshot.State) { delete(s.Nodes[i].Labels, k) })
			}
		}
		for k := range n.Allocatable {
			try(n.Name+" without "+string(k), func(s *snapshot.State) { delete(s.Nodes[i].Allocatable, k) })
		}
	}
}

// TestStoredEvidenceHasTheSameVerdict: the verdict from the stored evidence equals the verdict of the run.
func TestStoredEvidenceHasTheSameVerdict(t *testing.T) {
	t.Parallel()
	components := scenariotest.Components()
	components[0].Workloads[1].Pod.Tolerations = nil
	c := scenariotest.Build(t, "training", components, scenariotest.Nodes())
	s := scenariotest.Simulate(c)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	kept := scenario.Scenario{Recipe: c.Recipe}
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	if a, b := judge.Judge(c, s), judge.Judge(kept, stored(t, s)); !reflect.DeepEqual(a, b) {
		t.Errorf("judged %+v, from the evidence %+v", a, b)
	}
	for range 20 {
		if a, b := judge.Judge(c, s), judge.Judge(c, s); !reflect.DeepEqual(a, b) {
			t.Fatal("judged twice, not alike")
		}
	}
}

// TestOracleAgreesWithTheSimulation, whose DaemonSets go by labels as they come.
func TestOracleAgreesWithTheSimulation(t *testing.T) {
	t.Parallel()
	c := scenariotest.Scenario(t, "training")
	e := judge.Expect(c)
	if len(e.Flaws) != 0 {
		t.Errorf("flaws %v", e.Flaws)
	}
	want := map[string][]string{
		"nfd-worker": {"system-0", "system-1", "gpu-0", "gpu-1", "gpu-2", "gpu-3"}, "node-exporter": {"system-0", "system-1", "gpu-0", "gpu-1", "gpu-2", "gpu-3"},
		"driver": {"gpu-0", "gpu-1", "gpu-2", "gpu-3"}, "device-plugin": {"gpu-0", "gpu-1", "gpu-2", "gpu-3"}, "gpu-feature-discovery": {"gpu-0", "gpu-1", "gpu-2", "gpu-3"},
		"efa": {"gpu-0", "gpu-1", "gpu-2", "gpu-3"}, "csi-node": {"system-0", "system-1"},
		"nfd-master": {"system-0", "system-1"}, "gang": {"gpu-0", "gpu-1", "gpu-2", "gpu-3"},
	}
	checked := 0
	for _, w := range e.Workloads {
		if nodes, ok := want[w.Name]; ok {
			checked++
			if !slices.Equal(w.Nodes, nodes) {
				t.Errorf("%s on %v, want %v", w.Name, w.Nodes, nodes)
			}
		}
	}
	if checked != len(want) {
		t.Errorf("got %d of %d workloads", checked, len(want))
	}
	for _, n := range scenariotest.Simulate(c).Nodes {
		for k, v := range e.Labels[n.Name] {
			if n.Labels[k] != v {
				t.Errorf("%s has %s=%q, the oracle says %q", n.Name, k, n.Labels[k], v)
			}
		}
		if len(n.Labels) != len(e.Labels[n.Name])+1 { // the host name
			t.Errorf("%s has %d labels, the oracle says %d", n.Name, len(n.Labels)-1, len(e.Labels[n.Name]))
		}
	}
}

// apart is a state that shares nothing with s.
func apart(s snapshot.State) snapshot.State {
	s.Nodes, s.Workloads, s.Pods, s.Gangs = slices.Clone(s.Nodes), slices.Clone(s.Workloads), slices.Clone(s.Pods), slices.Clone(s.Gangs)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Labels, n.Taints, n.Allocatable = maps.Clone(n.Labels), slices.Clone(n.Taints), n.Allocatable.DeepCopy()
	}
	return s
}

// stored is a state as evidence has it.
func stored(tb testing.TB, s snapshot.State) snapshot.State {
	tb.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		tb.Fatal(err)
	}
	var out snapshot.State
	if err := json.Unmarshal(data, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func BenchmarkJudge(b *testing.B) {
	c := scenariotest.Scenario(b, "training")
	s := scenariotest.Simulate(c)
	for b.Loop() {
		judge.Judge(c, s)
	}
}
