package capacity

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/site"
)

// New nodes are Ready behind a cordon, and each accepted node is in service.
func TestRulesOfTheCordon(t *testing.T) {
	t.Parallel()
	s := &site.Site{Inventory: site.Inventory{Nodes: []site.Node{{Name: "old-01"}, {Name: "old-02"}, {Name: "new-01"}}}}
	c := cordon{site: s, addition: Addition{To: Base{Nodes: []string{"old-01", "old-02"}}}}
	o, err := check.Observation{ID: "0001-nodes", Kind: kindNodes, Target: targetCluster}.WithFigures(map[string]nodeFigures{
		"old-01": {Ready: true}, "old-02": {Ready: true}, "new-01": {Ready: true, Cordoned: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	healthy := []check.Observation{o}
	checktest.Rules(t, c.Judge, healthy, []checktest.Rule{
		checktest.When("the healthy nodes").Passes(),
		checktest.When("an accepted node is Ready", checktest.Set(kindNodes, `["old-02"].ready`, false)).Fails("old-02", "accepted node old-02 is not in service: in the cluster true, Ready false, cordoned false"),
		checktest.When("an accepted node is not cordoned", checktest.Set(kindNodes, `["old-01"].cordoned`, true)).Fails("old-01", "in the cluster true, Ready true, cordoned true"),
		checktest.When("an accepted node is in the cluster", checktest.Set(kindNodes, `["old-01"]`, checktest.LeftOut)).Fails("old-01", "in the cluster false"),
		checktest.When("a new node is in the cluster", checktest.Set(kindNodes, `["new-01"]`, checktest.LeftOut)).Fails("new-01", "new-01 is not in the cluster"),
		checktest.When("a new node is Ready", checktest.Set(kindNodes, `["new-01"].ready`, false)).Fails("new-01", "new-01 is not Ready"),
		checktest.When("a new node is cordoned", checktest.Set(kindNodes, `["new-01"].cordoned`, false)).Fails("new-01", "new-01 is not cordoned"),
	})
	gang := func(name string) []check.Observation {
		o, err := check.Observation{ID: "0002-gang", Kind: kindGang, Target: targetCluster}.WithFigures(gangFigures{name})
		if err != nil {
			t.Fatal(err)
		}
		return append(slices.Clone(healthy), o)
	}
	// A run with KAI waited for its pairs until its timeout.
	for name, want := range map[string]check.Verdict{"": check.Passed, "native": check.Passed, "volcano": check.Passed, "kueue": check.Passed, "kai": check.Unobserved} {
		j := c.Judge(gang(name))
		if j.Verdict != want || want == check.Unobserved && (len(j.Findings) != 1 || j.Findings[0].Suspect != "gang scheduler kai") {
			t.Errorf("gang scheduler %q: %s %+v", name, j.Verdict, j.Findings)
		}
	}
	open := c
	open.addition.NotCordoned = "a taint keeps workloads off"
	if j := open.Judge(gang("kai")); j.Verdict != check.Passed {
		t.Errorf("KAI, and nodes without a cordon: %s %+v", j.Verdict, j.Findings)
	}
	if j := c.Excluding([]string{"new-01"}).Judge(healthy); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "no new node") {
		t.Errorf("without a new node: %s: %s", j.Verdict, j.Reason)
	}
}

// The final collective is that of the gate over the accepted and the new nodes that are left.
func TestTheFinalCollectiveIsJudgedByTheGate(t *testing.T) {
	t.Parallel()
	s, p := fixture(t)
	a, err := base(t, "").Add(s, p, file(t, "nodes: [{name: new-01}, {name: new-02}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := a.SiteOf(s)
	w := finalCollective{collective.New(all, p, collective.Deps{}), all, a}
	rest, ok := w.Excluding([]string{"new-02"}).(finalCollective)
	if !ok || !slices.Equal(newOf(rest.site, a), []string{"new-01"}) {
		t.Fatalf("%+v", rest.site)
	}
	want := collective.New(all.Without([]string{"new-02"}), p, collective.Deps{}).Judge(nil)
	for i := range want.Findings {
		want.Findings[i].Remedy = strings.ReplaceAll(want.Findings[i].Remedy, " with --from collective", "")
	}
	if got := rest.Judge(nil); got.Verdict != check.Unobserved || len(got.Findings) == 0 || cmp.Diff(want, got) != "" {
		t.Errorf("%s: %s", got.Verdict, cmp.Diff(want, got))
	}
	if rest.Claims() != w.Claims()-int(p.Node.GPUs.Value) {
		t.Errorf("%d GPUs, %d of all nodes", rest.Claims(), w.Claims())
	}
}
