package judge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/judge"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
)

// A gang with one pending pod is bound in part; the pod has a finding, too.
func TestAGangBoundInPartIsNamed(t *testing.T) {
	t.Parallel()
	c := scenariotest.Build(t, "training", scenariotest.Components(), scenariotest.Nodes())
	s := scenariotest.Simulate(c)
	pend(pods(&s, "probe")[3], "0/1009 nodes are available: 1009 Insufficient nvidia.com/gpu.")
	j := judge.Judge(c, s)
	if j.Verdict != check.Failed || !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
		return f.Suspect == "probe/gang" && strings.Contains(f.Message, "bound in part: 3 of 4 pods")
	}) {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}
