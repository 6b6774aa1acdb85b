package judge

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

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
		"the limit of another pod's NodePool": {"does not name the limit", func(st *snapshot.State) {
			of := st.Events[len(st.Events)-1].About
			for i := range st.Pods {
				if st.Pods[i].UID == of.UID {
					st.Pods[i].Selector = map[string]string{poolLabel: "firstlight-run-shorter"}
				}
			}
		}},
		"other limits": {"does not name the limit: .*no instance type met", func(st *snapshot.State) {
			st.Events[len(st.Events)-1].Message = "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=firstlight-run-shorter); no instance type met the requirements (NodePool=firstlight-run-short)"
		}},
	} {
		st := until(snapshot.PhaseGang)
		tt.change(&st)
		if r := Hop(snapshot.HopGangNone, setup(), st); r.Verdict != check.Unobserved || !regexp.MustCompile(tt.says).MatchString(r.Reason) {
			t.Errorf("%s: %s: %s, want %s", name, r.Verdict, r.Reason, tt.says)
		}
	}
}

// Karpenter reports why it refuses a pod once in five minutes. Regression: until November 2026 the
// gang was created before Karpenter had evaluated its NodePool, and on a busy machine the only
// reason was that no NodePool matched.
func TestANodePoolIsReadyOnceKarpenterSaysSo(t *testing.T) {
	t.Parallel()
	ready := snapshot.Pool{Ref: ref("NodePool", "p"), Conditions: []snapshot.Condition{is("Ready", 1)}}
	absent, unevaluated, invalid, other := ready, ready, ready, ready
	absent.Absent = true
	unevaluated.Conditions = nil
	invalid.Conditions = []snapshot.Condition{{Type: "Ready", Status: "False", Reason: "Invalid", Message: "bad requirement"}}
	other.Name = "p-2"
	for name, tt := range map[string]struct {
		pools []snapshot.Pool
		says  string
	}{
		"ready":         {[]snapshot.Pool{other, ready}, ""},
		"none":          {nil, "NodePool p was not observed"},
		"another's":     {[]snapshot.Pool{other}, "NodePool p was not observed"},
		"not there":     {[]snapshot.Pool{absent}, "NodePool p was not observed"},
		"not evaluated": {[]snapshot.Pool{unevaluated}, "Karpenter has not evaluated it"},
		"invalid":       {[]snapshot.Pool{invalid}, "Invalid: bad requirement"},
	} {
		got := UnreadyPool(snapshot.State{Pools: tt.pools}, "p")
		if (tt.says == "") != (len(got) == 0) || !strings.Contains(check.Summary(got), tt.says) {
			t.Errorf("%s: %v, want %q", name, got, tt.says)
		}
	}
}

func TestABudgetKeepsEmptyNodes(t *testing.T) {
	t.Parallel()
	for budget, want := range map[string]bool{"0": true, "0%": true, "10%": false, "0 for Drifted": false, "0 from 0 9 * * 1-5 for 8h": false} {
		if got := consolidationOff(snapshot.Pool{Budgets: []string{"10%", budget}}); len(got) > 0 != want {
			t.Errorf("%s: %v", budget, got)
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

// Each hop requires its facts: every case removes or changes one field.
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
		{name: "a claim whose node exists is not registered before its condition is true", hop: snapshot.HopRegistered, suspect: "NodeClaim claim-node-b", says: "has not registered", change: func(_ *snapshot.Setup, st *snapshot.State) {
			claimNamed(st, "node-b").Conditions = []snapshot.Condition{is("Launched", 24.5)}
		}},
		{name: "an HPA that cannot scale creates no pods", hop: snapshot.HopPods, suspect: "HorizontalPodAutoscaler", says: "cannot scale the Deployment: FailedGetScale", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "worker-b" })
			st.HPA.Conditions[0] = not("AbleToScale", "False", "FailedGetScale", "forbidden")
		}},
		{name: "do-not-disrupt is permanent, whenever it is reported", hop: snapshot.HopNodesGone, suspect: "node node-c", says: "do-not-disrupt", change: func(_ *snapshot.Setup, st *snapshot.State) {
			stays(st)
			events(st, 26, "DisruptionBlocked", `Pod "research/train" has "karpenter.sh/do-not-disrupt" annotation`)
		}},
		{name: "a metric that is not listed has no rule, though the API fails", hop: snapshot.HopServed, suspect: "adapter rule", says: "rule without matches", change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Listed, st.API = nil, []snapshot.Reading{{At: st.At, Err: "404"}}
		}},
		{name: "without a target no value is below it", hop: snapshot.HopMetricFalls, suspect: "external metric", says: "want at most 0", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Scale.Target = 0
			for i := range st.API {
				st.API[i].Value = 0
			}
		}},
		{name: "without a scrape interval a sample may be two minutes old", hop: snapshot.HopServed, suspect: "gpu0", says: "is stale", change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Settings = nil
			st.Made[0].At = st.At.Add(-2*time.Minute - 3*time.Second)
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

func TestWithoutAScrapeIntervalASampleIsFreshForTwoMinutes(t *testing.T) {
	t.Parallel()
	s, st := setup(), until(phaseOf(t, snapshot.HopServed))
	s.Settings = nil
	st.Made[0].At = st.At.Add(-2 * time.Minute)
	if r := Hop(snapshot.HopServed, s, st); r.Verdict != check.Passed {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

func TestAPoolOfTheClusterIsNotLimitedToZero(t *testing.T) {
	t.Parallel()
	for autoscaler, says := range map[string]string{karpenter: "--pool", "cluster-autoscaler": "nodes come from cluster-autoscaler"} {
		s := setup()
		s.Pool.Zero, s.Pool.Autoscaler = "", autoscaler
		if r := Hop(snapshot.HopLimitZero, s, until(snapshot.PhaseControl)); r.Verdict != check.NotApplicable || !strings.Contains(r.Reason, says) {
			t.Errorf("%s: %s: %s", autoscaler, r.Verdict, r.Reason)
		}
	}
}

// The time of a pod's rejection is that of the earliest event, in any order of events.
func TestTheFirstRejectionCounts(t *testing.T) {
	t.Parallel()
	p := pod(snapshot.RoleWorker, "worker-b", "", 24, 0)
	l := lookup{setup: setup(), st: snapshot.State{Events: []snapshot.Event{
		{About: p.Ref, Reason: "FailedScheduling", From: "default-scheduler", First: at(25)}, {About: p.Ref, Reason: "FailedScheduling", From: "default-scheduler", First: at(24.1)},
	}}}
	if e, ok := l.rejection(p); !ok || !e.First.Equal(at(24.1)) {
		t.Errorf("%t %+v", ok, e)
	}
}

func TestANodeIsForeignWithPodsOfOthersOnly(t *testing.T) {
	t.Parallel()
	ours, theirs, daemon := snapshot.Holder{Ours: true}, snapshot.Holder{}, snapshot.Holder{Daemon: true}
	for name, tt := range map[string]struct {
		holders []snapshot.Holder
		want    bool
	}{
		"empty": {nil, false}, "daemons": {[]snapshot.Holder{daemon}, false}, "others": {[]snapshot.Holder{daemon, theirs}, true},
		"ours": {[]snapshot.Holder{ours}, false}, "both": {[]snapshot.Holder{theirs, ours}, false},
	} {
		if got := foreign(snapshot.Node{Holders: tt.holders}); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTolerations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		toleration, taint string
		want              bool
	}{
		{"", "gpu=h100:PreferNoSchedule", true}, {"", "gpu=h100:NoSchedule", false}, {"*", "gpu=h100:NoSchedule", true},
		{"gpu=h100:NoSchedule", "gpu=h100:NoSchedule", true}, {"gpu", "gpu=h100:NoSchedule", true}, {"gpu=a100", "gpu=h100:NoSchedule", false},
		{"gpu:NoExecute", "gpu=h100:NoSchedule", false}, {"other", "gpu=h100:NoSchedule", false},
	} {
		if got := tolerates([]string{tt.toleration}, tt.taint); got != tt.want {
			t.Errorf("%q of %q: %t", tt.toleration, tt.taint, got)
		}
	}
}

// A queue that exists keeps no pod; one that is missing does, and so does another queue than the
// run's of which KAI says nothing.
func TestQueuesOfKAI(t *testing.T) {
	t.Parallel()
	p := pod(snapshot.RoleWorker, "worker-b", "", 24, 0)
	for name, tt := range map[string]struct {
		scheduler, queue string
		queues           []snapshot.Queue
		want             int
	}{
		"exists":              {kai, "team", []snapshot.Queue{{Ref: ref("Queue", "team")}}, 0},
		"missing":             {kai, "team", []snapshot.Queue{{Ref: ref("Queue", "team"), Absent: true}}, 1},
		"the run's":           {kai, "run", nil, 0},
		"another":             {kai, "team", nil, 1},
		"no queue":            {kai, "", nil, 0},
		"of no KAI scheduler": {"default-scheduler", "team", nil, 0},
	} {
		s := setup()
		s.Queue = "run"
		q := p
		q.Scheduler, q.Queue = tt.scheduler, tt.queue
		l := lookup{setup: s, st: snapshot.State{Queues: tt.queues}}
		if got := l.queueFindings([]snapshot.Pod{q}); len(got) != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAFailureWithoutAKnownReasonHasAFinding(t *testing.T) {
	t.Parallel()
	if r := (lookup{}).wait(snapshot.Ref{}, nil, check.Finding{}); r.Verdict != check.Failed || len(r.Findings) != 1 || r.Findings[0].Suspect != "chain" {
		t.Errorf("%s: %+v", r.Verdict, r.Findings)
	}
	if (lookup{}).agrees(1, nil) {
		t.Error("a value agrees with no value of Prometheus")
	}
}

// A claim is nominated by its kind and name: other words of the event are not names.
func TestNominationsAreTheClaimsOfTheEvent(t *testing.T) {
	t.Parallel()
	p := pod(snapshot.RoleWorker, "worker-b", "", 24, 0)
	l := lookup{setup: setup(), st: snapshot.State{Events: []snapshot.Event{
		{About: p.Ref, Reason: "Nominated", Message: "Pod should schedule on: nodeclaim/claim-a, nodeclaim/claim-b, node/node-a"},
		{About: ref("Pod", "another"), Reason: "Nominated", Message: "Pod should schedule on: nodeclaim/claim-c"},
	}}}
	if got := l.nominations(p); !slices.Equal(got, []string{"claim-a", "claim-b"}) {
		t.Errorf("%q", got)
	}
}

// A hop passes with the fewest facts that prove it.
func TestOneFactIsEnough(t *testing.T) {
	t.Parallel()
	for _, tt := range []negative{
		{name: "one reading of the metrics API", hop: snapshot.HopServed, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.API = st.API[len(st.API)-1:]
		}},
		{name: "another GPU that was busy before the load", hop: snapshot.HopExporter, change: func(_ *snapshot.Setup, st *snapshot.State) {
			for _, r := range slices.Clone(st.Exporter) {
				st.Exporter = append(st.Exporter, snapshot.Reading{At: at(1), Where: r.Where, Value: 60})
			}
			st.Exporter = append(st.Exporter, snapshot.Reading{At: at(1), Where: "gpu-01/gpu7", Value: 700})
		}},
		{name: "one new pod", hop: snapshot.HopUnschedulable, change: func(_ *snapshot.Setup, st *snapshot.State) {
			st.Pods = slices.DeleteFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == "worker-c" })
		}},
		{name: "a target below one", hop: snapshot.HopMetricFalls, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Scale.Target = 0.5
			for i := range st.API {
				st.API[i].Value = 0.4
			}
		}},
		{name: "a KAI scheduler that runs", hop: snapshot.HopPool, change: func(s *snapshot.Setup, st *snapshot.State) {
			s.Scheduler = kai
			st.Programs = append(st.Programs, snapshot.Program{Ref: snapshot.Ref{Kind: "Deployment", Namespace: "kai-scheduler", Name: "kai-scheduler-default", UID: "k"}, Role: "scheduler", Desired: 1, Ready: 1})
		}},
	} {
		s, st := setup(), until(phaseOf(t, tt.hop))
		tt.change(&s, &st)
		if r := Hop(tt.hop, s, st); r.Verdict != check.Passed {
			t.Errorf("%s: %s: %s", tt.name, r.Verdict, r.Reason)
		}
	}
	if first, ok := trailing([]int{3, 4}, func(n int) bool { return n > 2 }); !ok || first != 3 {
		t.Errorf("the whole list is its own end: %d %t", first, ok)
	}
}

func TestAHopThatWaitsNamesTheClaimItWaitsFor(t *testing.T) {
	t.Parallel()
	st := until(phaseOf(t, snapshot.HopRegistered))
	claimNamed(&st, "node-b").Conditions = nil
	if r := Hop(snapshot.HopRegistered, setup(), st); r.Object.Name != "claim-node-b" {
		t.Errorf("%+v: %s", r.Object, r.Reason)
	}
	st = until(phaseOf(t, snapshot.HopRegistered))
	st.Claims = nil
	if r := Hop(snapshot.HopRegistered, setup(), st); r.Object.Name != "worker-b" {
		t.Errorf("%+v: %s", r.Object, r.Reason)
	}
}

func TestTheClauseOfTheRunsPool(t *testing.T) {
	t.Parallel()
	mine := "NodePool=" + own
	l := lookup{setup: setup()}
	for text, want := range map[string]string{
		"limit (" + mine + "-2); taint (" + mine + ")":          "taint (" + mine + ")",
		"x; taint (" + mine + ")":                               "taint (" + mine + ")",
		"limit (" + mine + "-2); no instance type":              "no instance type",
		"limit (NodePool=a); limit (NodePool=b)":                "limit (NodePool=a); limit (NodePool=b)",
		"label (karpenter.sh/nodepool); limit (NodePool=other)": "label (karpenter.sh/nodepool); limit (NodePool=other)",
		// kubernetes-sigs/karpenter, issue 2123, and aws/karpenter-provider-aws, issues 5169 and 7839.
		`all available instance types exceed limits for nodepool: "gpu-a"; incompatible with nodepool "` + own + `", no instance type`: `incompatible with nodepool "` + own + `", no instance type`,
		`incompatible with nodepool "gpu-a", x; no instance type`:                                                                      "no instance type",
	} {
		if got := l.poolClause(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A metric that cannot be read was not flat.
func TestReadingsWithAnErrorShowNothing(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseControl)
	for i := range st.API {
		st.API[i].Err = "the server is currently unable to handle the request"
	}
	if r := Hop(snapshot.HopFlat, setup(), st); r.Verdict != check.Unobserved || !strings.Contains(r.Reason, "only 0 readings") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

func TestAFlatMetricStatesItsHighestReading(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseControl)
	for i := range st.API {
		st.API[i].Value = float64(10 + i)
	}
	st.API[len(st.API)-2].Value = 99
	if r := Hop(snapshot.HopFlat, setup(), st); r.Verdict != check.Passed || !strings.Contains(r.Reason, "of at most 99 W") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}
