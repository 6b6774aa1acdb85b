package fabric_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// Each counter may grow by its limit over the soak, and not by one more; one that is at
// its end shows nothing.
func TestCountersAtTheirLimits(t *testing.T) {
	t.Parallel()
	_, p := declared()
	if len(p.Fabric.CounterLimits) == 0 {
		t.Fatal("no limits")
	}
	ends := map[string]int{"SymbolErrorCounter": 0xffff, "LinkErrorRecoveryCounter": 0xff, "LinkDownedCounter": 0xff, "PortRcvErrors": 0xffff, "LocalLinkIntegrityErrors": 0xf, "VL15Dropped": 0xffff}
	for name, limit := range p.Fabric.CounterLimits {
		try := func(what string, before, after int, want check.Verdict) {
			s := newSubnet()
			l := s.of("leaf-0")
			l.before[0], l.after[0] = map[string]int{"PortRcvErrors": 14}, map[string]int{"PortRcvErrors": 14}
			l.before[0][name], l.after[0][name] = before, after
			j := judge(look(t, s))
			if j.Verdict != want || want == check.Failed && j.Findings[0].Suspect != "leaf-0/port33" {
				t.Errorf("%s %s: %s: %s", name, what, j.Verdict, j.Reason)
			}
		}
		by := int(limit.Value)
		try("grew by its limit", 3, 3+by, check.Passed)
		try("grew by one more", 3, 4+by, check.Failed)
		try("decreased", 3, 2, check.Unobserved)
		if end := ends[name]; end > 0 {
			try("is at its maximum", end, end, check.Unobserved)
			try("is one before its end", end-1, end-1, check.Passed)
		}
	}
}

// The soak is as long as the site demands, and not a moment shorter.
func TestTheSoakIsWhole(t *testing.T) {
	t.Parallel()
	all := look(t, newSubnet())
	first := -1
	for i, o := range all {
		if o.Kind != "ibqueryerrors" {
			continue
		}
		if first < 0 {
			first = i
			continue
		}
		all[i].At = all[first].At.Add(soak)
		if j := judge(all); j.Verdict != check.Passed {
			t.Errorf("the soak: %s: %s", j.Verdict, j.Reason)
		}
		all[i].At = all[first].At.Add(soak - time.Millisecond)
		if j := judge(all); j.Verdict != check.Unobserved {
			t.Errorf("a shorter soak: %s: %s", j.Verdict, j.Reason)
		}
	}
}

// The suspects of a port that is not up, and of its monitor.
func TestRulesOfPorts(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, judge, look(t, newSubnet()), []checktest.Rule{
		checktest.When("a port that trains is its own fault", checktest.Set("ibstat@gpu-01", "[0].ports[0].state", "Initializing"), checktest.Set("ibstat@gpu-01", "[0].ports[0].physicalState", "Polling")).
			Fails("gpu-01/mlx5_0", "Initializing / Polling"),
		checktest.When("a port that is not configured is the subnet manager's fault", checktest.Set("ibstat@gpu-01", "[0].ports[0].state", "Initializing")).
			Fails("subnet manager", "only Initializing"),
		checktest.When("a port without a link is not active", checktest.Set("ibstat@gpu-01", "[0].ports[0].physicalState", "Disabled")).Fails("gpu-01/mlx5_0", "Active / Disabled"),
		checktest.When("an adapter without ports shows nothing", checktest.Set("ibstat@gpu-02", "[1].ports", []int{})).Unobserved("gpu-02/mlx5_1", "no port"),
		checktest.When("one query that was not answered is one too many", checktest.Set("ibqueryerrors", ".queryFailures", 1)).Unobserved("fabric", "1 queries"),
		checktest.When("the subnet manager is master", checktest.Set("sminfo", ".state", 2)).Fails("subnet manager", "state 2"),
		checktest.When("the subnet manager says its state", checktest.Set("sminfo", ".state", checktest.LeftOut)).Unobserved("subnet manager", "too old"),
		checktest.When("adapters follow the master", checktest.Set("ibstat@gpu-02", "[0].ports[0].smLID", 9)).Fails("subnet manager", "at LID 9"),
	})
}

// A stage's finding has the errors of that stage, and a link is named by valid GUIDs.
func TestErrorsAreOfTheirStage(t *testing.T) {
	t.Parallel()
	s := newSubnet()
	const link, port = "Speed / Width checks", "Virtualization"
	s.errors[link] = []string{"Link: Sa088c20300d70010/Na088c20300d70010/P2<-->Sa088c20300d70060/Na088c20300d70060/P1 - Unexpected actual link speed 53"}
	s.errors[port] = []string{"S1111111111111111/N1111111111111111/P1 - something is wrong"}
	obs := look(t, s)
	found := judge(obs).Findings
	if len(found) != 2 || found[0].Suspect != "gpu-02/mlx5_1" || found[1].Suspect != "fabric" || strings.Contains(found[1].Message, "link speed") {
		t.Errorf("%+v", found)
	}
	checktest.Rules(t, judge, obs, []checktest.Rule{
		checktest.When("a line without a GUID names no link", checktest.Set("ibdiagnet", `.errors[*].ports[*].nodeGUID`, "none")).Fails("fabric", "Unexpected actual link speed"),
	})
}
