package telemetry

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestSeriesRules covers which node and GPU a series is of.
func TestSeriesRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	var foreign []checktest.Change
	for i := g.gpus; i < 2*g.gpus; i++ {
		foreign = append(foreign, checktest.Set("gpu-series@idle", fmt.Sprintf(`.series[%d].host`, i), "gpu-77"))
	}
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		checktest.When("a node whose series have a foreign host's label has none", foreign...).Fails("gpu-02", "series of 0 GPUs, want 8"),
	})
}

// Series without a UUID are of unknown GPUs, not of the same one.
func TestSeriesWithoutUUIDAreNotDuplicates(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.idle.Series[3].UUID, f.idle.Series[4].UUID = "", ""
	var suspects []string
	for _, d := range g.defects(*f.idle, hints{}) {
		suspects = append(suspects, d.suspect)
	}
	if want := []string{"gpu-01/gpu3", "gpu-01/gpu4", "gpu-01"}; !slices.Equal(suspects, want) {
		t.Errorf("%v, want %v", suspects, want)
	}
}

// Series without a host label excuse the missing series of the node that they are scraped on, or
// of every node where that is unknown.
func TestSeriesWithoutAHostLabelHaveOneFindingForEachExporter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(s *series)
		want   []string
	}{
		"scraped on the node":     {func(s *series) { s.Host = "" }, []string{"gpu-01/Hostname"}},
		"scraped on another node": {func(s *series) { s.Host, s.Node = "", "gpu-02" }, []string{"gpu-02/Hostname", "gpu-01"}},
		"scraped on no node":      {func(s *series) { s.Host, s.Node, s.Pod = "", "", "exporter-a" }, []string{"exporter-a/Hostname"}},
	} {
		g := gate(t)
		f := readings(g, 0)
		each(f, "gpu-01", tt.change)
		var suspects []string
		for _, d := range g.defects(*f, hints{}) {
			suspects = append(suspects, d.suspect)
		}
		if !slices.Equal(suspects, tt.want) {
			t.Errorf("%s: %v, want %v", name, suspects, tt.want)
		}
	}
}

func TestAnInventoryWithoutGPUsIsUnobserved(t *testing.T) {
	t.Parallel()
	g := gate(t)
	obs := healthy(g).observations(t)
	g.gpus = 0
	if j := g.Judge(obs); j.Verdict != check.Unobserved {
		t.Errorf("%q: %s", j.Verdict, j.Reason)
	}
}

func TestAHostLabelIsOfOneNode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		nodes       []string
		label, want string
	}{
		{[]string{"gpu-01", "gpu-02"}, "gpu-02", "gpu-02"},
		{[]string{"gpu-01", "gpu-02"}, "GPU-02", "gpu-02"},
		{[]string{"gpu-01", "gpu-02"}, "gpu-02.example.com", "gpu-02"},
		{[]string{"gpu-01", "gpu-02"}, "gpu-03", ""},
		{[]string{"gpu-01", "gpu-02"}, "", ""},
		{[]string{"gpu-02.a.com", "gpu-02.b.com"}, "GPU-02.b.com", "gpu-02.b.com"},
		{[]string{"gpu-02.a.com"}, "gpu-02", "gpu-02.a.com"},
		{[]string{"gpu-02.a.com"}, "gpu-02.c.com", ""},
	} {
		if got := HostOf(tt.nodes, tt.label); got != tt.want {
			t.Errorf("label %q of %v: %q, want %q", tt.label, tt.nodes, got, tt.want)
		}
	}
}

// The users of GPUs are judged where the load is: those of other nodes are not known.
func TestUsersAreJudgedOnLoadedNodes(t *testing.T) {
	t.Parallel()
	g := gate(t)
	load := loadOf(map[string]int{"gpu-01": 8})
	state := under(readings(g, 99), map[string]int{"gpu-01": 8})
	each(state, "gpu-02", func(s *series) { s.ExportedNamespace, s.ExportedPod = "team", "other" })
	if found := g.userDefects(*load, *state); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	each(state, "gpu-01", func(s *series) { s.ExportedNamespace, s.ExportedPod = "team", "other" })
	if found := g.userDefects(*load, *state); len(found) != 1 || found[0].suspect != "gpu-01" {
		t.Errorf("%+v", found)
	}
}

// Prometheus has the series of the cluster's other GPU nodes, too, which another site has.
func TestSeriesOfAnotherSite(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{"gpu-l40s-*": 0, "gpu-l40s-2": 1} {
		g := gate(t)
		g.site.Inventory.OtherNodes = []string{pattern}
		f := healthy(g)
		f.idle.Series = append(f.idle.Series, series{Host: "gpu-l40s-1.example.com", GPU: "0"})
		if got := g.defects(*f.idle, hints{}); len(got) != want {
			t.Errorf("%s: %+v", pattern, got)
		}
	}
}
