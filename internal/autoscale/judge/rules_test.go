package judge

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Each hop requires its facts: every case removes or changes one field.
// The time without a bound pod begins when the whole gang exists.
func TestAGangIsPendingSinceItsLastPodExists(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseGang)
	podNamed(&st, "short-1").First = at(82)
	if r := Hop(snapshot.HopGangNone, setup(), st); r.Verdict != check.Unobserved {
		t.Errorf("after 9 of 10 s: %s: %s", r.Verdict, r.Reason)
	}
}

// Without a usable node no scheduler binds a pod, whether it schedules gangs or not.
func TestAGangThatIsANodeShortIsJudgedOnceTheOtherNodesAreUsable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		says   string
		change func(st *snapshot.State)
	}{
		"no node": {"0 of 2 nodes", func(st *snapshot.State) {
			st.Claims = only(st.Claims, func(c snapshot.Claim) bool { return c.Pool == own })
		}},
		"one node": {"1 of 2 nodes", func(st *snapshot.State) { claimNamed(st, "node-s1").Conditions = nil }},
		"other's":  {"1 of 2 nodes", func(st *snapshot.State) { claimNamed(st, "node-s1").Pool = own }},
		"a late node": {"9.0 s", func(st *snapshot.State) {
			claimNamed(st, "node-s1").Conditions = []snapshot.Condition{is("Initialized", 82)}
		}},
		"other limits": {"does not name the limit", func(st *snapshot.State) {
			st.Events[len(st.Events)-1].Message = "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=firstlight-run-shorter); no instance type met the requirements (NodePool=firstlight-run-short)"
		}},
	} {
		st := until(snapshot.PhaseGang)
		tt.change(&st)
		if r := Hop(snapshot.HopGangNone, setup(), st); r.Verdict != check.Unobserved || !strings.Contains(r.Reason, tt.says) {
			t.Errorf("%s: %s: %s, want %s", name, r.Verdict, r.Reason, tt.says)
		}
	}
}

func TestALimitOfAnotherNodePoolIsNotTheLimitOfZero(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]check.Verdict{
		"all available instance types exceed limits for nodepool (NodePool=gpu-a); no instance type met the requirements (NodePool=firstlight-run-zero)": check.Unobserved,
		"all available instance types exceed limits for nodepool (NodePool=firstlight-run-zero-b)":                                                       check.Unobserved,
		"all available instance types exceed limits for nodepool (NodePool=firstlight-run-zero)":                                                         check.Passed,
		"all available instance types exceed limits for nodepool: \"firstlight-run-zero\"":                                                               check.Passed,
		"all available instance types exceed limits for nodepool: \"gpu-a\"":                                                                             check.Unobserved,
	} {
		st := until(snapshot.PhaseControl)
		for i := range st.Events {
			if st.Events[i].About.Name == "zero" {
				st.Events[i].Message = "Failed to schedule pod, " + message
			}
		}
		if r := Hop(snapshot.HopLimitZero, setup(), st); r.Verdict != want {
			t.Errorf("%s: %s: %s", message, r.Verdict, r.Reason)
		}
	}
}

func TestTheHPAScalesBecauseOfTheValue(t *testing.T) {
	t.Parallel()
	low := 150.0
	for name, value := range map[string]*float64{"without a value": nil, "with a value below its target": &low} {
		st := until(snapshot.PhaseUp)
		for i := range st.Desired {
			if st.Desired[i].Desired > 1 {
				st.Desired[i].Value = value
			}
		}
		if r := Hop(snapshot.HopHPA, setup(), st); r.Verdict != check.Failed || !strings.Contains(r.Reason, "replicas for") {
			t.Errorf("%s: %s: %s", name, r.Verdict, r.Reason)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []negative{
		{name: "one series without a GPU's name is one too many", hop: snapshot.HopSeries, suspect: "^gpu-01$", says: "^1 series of .* no GPU label", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Coverage[0].Unlabelled = 1
		}},
		{name: "the holder is on another node", hop: snapshot.HopPlaced, suspect: "pod .*holder", says: "runs on zz, which is not an initial GPU node", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "holder").Node = "zz"
		}},
		{name: "a replica without a node does not run", hop: snapshot.HopPlaced, suspect: "worker-a|NodeClaim", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "worker-a").Node = ""
		}},
		{name: "nothing is down before the load is stopped", hop: snapshot.HopHPADown, suspect: "HorizontalPodAutoscaler", change: func(_ *snapshot.Setup, st *snapshot.State) {
			delete(st.Marks, snapshot.MarkStop)
		}},
		{name: "the gang's last node may not come after its pods are bound", hop: snapshot.HopGangBound, suspect: "scheduler default-scheduler", says: "not all-or-nothing", change: func(_ *snapshot.Setup, st *snapshot.State) {
			nodeNamed(st, "node-g2").First = at(66)
		}},
		{name: "a gang of which one pod is gone is not bound whole", hop: snapshot.HopGangBound, suspect: "gang", says: "2 of 3 pods of the gang exist", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "gang-1").Life = ended(60.1, 66)
		}},
		{name: "a gang of which one pod ended is not bound whole", hop: snapshot.HopGangBound, suspect: "gang", says: "2 of 3 pods of the gang exist", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "gang-1").Phase = "Failed"
		}},
		{name: "a gang of which a replaced pod was bound early is split", hop: snapshot.HopGangBound, suspect: "scheduler", says: "not all-or-nothing", change: func(_ *snapshot.Setup, st *snapshot.State) {
			p := pod(snapshot.RoleGang, "gang-early", "node-g0", 60.1, 61)
			p.Life = ended(60.1, 62)
			st.Pods = append(st.Pods, p)
		}},
		{name: "a gang of which one pod is gone is not pending whole", hop: snapshot.HopGangNone, suspect: "gang", says: "2 of 3 pods of the gang exist", change: func(_ *snapshot.Setup, st *snapshot.State) {
			podNamed(st, "short-1").Life = ended(80.1, 85)
		}},
		{name: "without a load nothing was loaded", hop: snapshot.HopLoad, change: func(_ *snapshot.Setup, st *snapshot.State) { delete(st.Marks, snapshot.MarkLoad) }},
		{name: "a claim without a UID", hop: snapshot.HopNodeClaim, change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-b").UID = ""
		}},
		{name: "a pool that is not ready for no known reason is not ready", hop: snapshot.HopPool, suspect: "NodePool firstlight-run", says: "is not ready", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pools[0].Conditions[0].Status = "Unknown"
		}},
		{name: "a claim that does not say Registered is not", hop: snapshot.HopRegistered, change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-b").Conditions = nil
		}},
		{name: "a series of another pod of the namespace is not ours", hop: snapshot.HopServed, suspect: "gpu-01/gpu0", says: "diluted", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made[0].Pod = "worker-a"
		}},
		{name: "a series of a pod of the same name elsewhere is not ours", hop: snapshot.HopServed, suspect: "gpu-01/gpu0", says: "diluted", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Made[0].Namespace = "research"
		}},
	} {
		t.Run(tt.hop+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			s, st := setup(), until(phaseOf(t, tt.hop))
			tt.change(&s, &st)
			r := Hop(tt.hop, s, st)
			if r.Verdict != check.Failed || !r.At.IsZero() {
				t.Fatalf("%s at %s: %s", r.Verdict, r.At, r.Reason)
			}
			suspect, says := regexp.MustCompile(tt.suspect), regexp.MustCompile(tt.says)
			if !slices.ContainsFunc(r.Findings, func(f check.Finding) bool {
				return suspect.MatchString(f.Suspect) && says.MatchString(f.Message)
			}) {
				t.Errorf("no finding of %s says %s: %+v", tt.suspect, tt.says, r.Findings)
			}
		})
	}
}
