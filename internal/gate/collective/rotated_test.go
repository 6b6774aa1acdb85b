package collective

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
)

// A healthy run whose log has lost its beginning is not observed; a failure in the rest still fails it.
func TestRotatedLog(t *testing.T) {
	t.Parallel()
	const of = "pod firstlight-test/collective-0-abcde"
	for name, tt := range map[string]struct {
		world   cluster
		verdict check.Verdict
		suspect string
	}{
		"its first line":           {cluster{rotated: 0.00001}, check.Unobserved, of},
		"a part of a repetition":   {cluster{rotated: 0.1}, check.Unobserved, of},
		"a repetition":             {cluster{rotated: 0.34}, check.Unobserved, of},
		"half":                     {cluster{rotated: 0.5}, check.Unobserved, of},
		"two repetitions and more": {cluster{rotated: 0.8}, check.Unobserved, of},
		"all but the last lines":   {cluster{rotated: 0.999}, check.Unobserved, of},
		"wrong data in the rest":   {cluster{rotated: 0.5, wrong: map[string]bool{"gpu-02": true}}, check.Failed, "cluster"},
		"a failed pod":             {cluster{rotated: 0.5, exit: 1}, check.Failed, of},
		"nothing":                  {cluster{}, check.Passed, ""},
		"nothing, and cut":         {cluster{reps: 1}, check.Failed, "incomplete output of " + of},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, obs := observeAndJudge(t, testGate(t, testSite()), tt.world)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if tt.verdict == check.Unobserved && (len(j.Findings) != 1 || len(obs) != 1 || !strings.Contains(j.Findings[0].Remedy, "containerLogMaxSize")) {
				t.Errorf("%d observations, %+v", len(obs), j.Findings)
			}
			if tt.suspect != "" && j.Findings[0].Suspect != tt.suspect {
				t.Errorf("%+v, want %s", j.Findings, tt.suspect)
			}
		})
	}
}

// Nodes that are missing in the rest of the log of a run that hangs are not the cause.
func TestRulesRotated(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	rotated, ended := checktest.Set(KindRun, `.rotated`, true), checktest.Set(KindRun, `.outcome.ended`, gangjob.EndedTimeout)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("a rotated log that seems whole is not", rotated).Unobserved("pod firstlight-test/collective-0-abcde", "the beginning of the log is missing"),
		checktest.When("a rotated log of a run that hangs names no node", rotated, ended, checktest.Set(KindRun, `.outcome.succeeded`, false), checktest.Set(KindRun, `.nccl.ranks[0].inits`, 0)).Fails("cluster", "the collective hangs: it did not end before its timeout"),
		checktest.When("a whole log of a run that hangs does", ended, checktest.Set(KindRun, `.outcome.pods[*].exitCode`, checktest.LeftOut), checktest.Set(KindRun, `.outcome.succeeded`, false), checktest.Set(KindRun, `.nccl.ranks[0].inits`, 0)).Fails("gpu-01", "never finished initialising"),
	})
	r := g.trial("", Figures{Nodes: testPair, GPUsPerNode: testGPUs, Repetitions: 1, Rotated: true})
	if r.ran || r.bad {
		t.Errorf("a pair whose log was rotated counts: %+v", r)
	}
}

var testPair = []string{"gpu-01", "gpu-02"}
