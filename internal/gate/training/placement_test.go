package training

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// Where the ranks ran was read and not judged: a job on two pods of one node, or on a node
// that the site does not have, passed as the site's.
func TestRanksRunOnTheSitesNodes(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite(frameworkTorchtitan))
	healthy, obs := observeAndJudge(t, g, fakeTrainer{})
	if healthy.Verdict != check.Passed {
		t.Fatalf("%s: %s", healthy.Verdict, healthy.Reason)
	}
	for name, spoil := range map[string]func(*JobFigures){
		"the job was let onto another node": func(f *JobFigures) { f.Nodes[1] = "stranger" },
		"a pod is elsewhere by the job":     func(f *JobFigures) { f.Outcome.Pods[1].Node = "stranger" },
		"the job lacks a pod":               func(f *JobFigures) { f.Outcome.Pods = f.Outcome.Pods[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := check.Decode[JobFigures](obs[0])
			if err != nil {
				t.Fatal(err)
			}
			spoil(&f)
			seen := slices.Clone(obs)
			if seen[0], err = seen[0].WithFigures(f); err != nil {
				t.Fatal(err)
			}
			if j := g.Judge(seen); j.Verdict == check.Passed {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
	for name, tt := range map[string]struct {
		node    string
		verdict check.Verdict
		saying  string
	}{
		"a node of another site": {"stranger", check.Failed, "is not in the inventory"},
		"a node twice":           {g.site.Inventory.Nodes[1].Name, check.Failed, "2 pods"},
		"a node without a name":  {"", check.Unobserved, "the node of pod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := slices.Clone(obs)
			i := slices.IndexFunc(seen, func(o check.Observation) bool { return o.Kind == KindRanks })
			f, err := check.Decode[RankFigures](seen[i])
			if err != nil {
				t.Fatal(err)
			}
			f.Node = tt.node
			if seen[i], err = seen[i].WithFigures(f); err != nil {
				t.Fatal(err)
			}
			j := g.Judge(seen)
			if j.Verdict != tt.verdict || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.saying) }) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
}
