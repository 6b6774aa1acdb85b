package judge

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// phaseOf is the phase of a hop.
func phaseOf(t *testing.T, hop string) string {
	t.Helper()
	for _, p := range snapshot.Chain() {
		if slices.Contains(p.Hops, hop) {
			return p.Name
		}
	}
	t.Fatalf("there is no hop %s", hop)
	return ""
}

func TestEveryHopHasAJudge(t *testing.T) {
	t.Parallel()
	n := 0
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			n++
			if rules[hop].judge == nil || len(rules[hop].needs) == 0 {
				t.Errorf("hop %s has no judge", hop)
			}
		}
	}
	if n != len(rules) {
		t.Errorf("%d judges for %d hops", len(rules), n)
	}
	if r := Hop("hopp", setup(), until(snapshot.PhaseClean)); r.Verdict != check.Unobserved {
		t.Errorf("an unknown hop is %s", r.Verdict)
	}
}

// TestAHealthyChain: each hop passes in the state at the end of its phase, with
// a time and an object.
func TestAHealthyChain(t *testing.T) {
	t.Parallel()
	times := map[string]float64{
		snapshot.HopAdapter: 1, snapshot.HopPool: 2, snapshot.HopSeries: 5, snapshot.HopPlaced: 9, snapshot.HopServed: 8.2, snapshot.HopFlat: 20, snapshot.HopLimitZero: 11,
		snapshot.HopLoad: 21.5, snapshot.HopExporter: 22, snapshot.HopPrometheus: 23, snapshot.HopMetricsAPI: 23.2, snapshot.HopHPA: 23.8, snapshot.HopPods: 24,
		snapshot.HopUnschedulable: 24.1, snapshot.HopNodeClaim: 24.5, snapshot.HopRegistered: 24.8, snapshot.HopReady: 25, snapshot.HopBound: 25.5,
		snapshot.HopMetricFalls: 35.2, snapshot.HopHPADown: 38, snapshot.HopPodsGone: 39, snapshot.HopNodesGone: 55, snapshot.HopClaimsGone: 56, snapshot.HopBystanders: 57,
		snapshot.HopGangBound: 64, snapshot.HopGangNone: 91, snapshot.HopClean: 95,
	}
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			r := Hop(hop, setup(), until(p.Name))
			if r.Verdict != check.Passed || len(r.Findings) > 0 || r.Reason == "" {
				t.Errorf("hop %s is %s: %s %+v", hop, r.Verdict, r.Reason, r.Findings)
			}
			if !r.At.Equal(at(times[hop])) {
				t.Errorf("hop %s happened at %.1f s, want %.1f s", hop, r.At.Sub(t0).Seconds(), times[hop])
			}
			if r.Object.Name == "" {
				t.Errorf("hop %s has no object", hop)
			}
			if strings.Contains(r.Reason, "%!") {
				t.Errorf("hop %s: %s", hop, r.Reason)
			}
		}
	}
}

// TestNothingIsNeverAPass judges every hop on what is nothing, or of another phase.
func TestNothingIsNeverAPass(t *testing.T) {
	t.Parallel()
	for _, p := range snapshot.Chain() {
		for _, hop := range p.Hops {
			for name, in := range map[string]struct {
				s  snapshot.Setup
				st snapshot.State
			}{
				"nothing at all":   {snapshot.Setup{Pool: snapshot.PoolPlan{Autoscaler: "karpenter", Zero: "z"}}, snapshot.State{}},
				"an empty state":   {setup(), snapshot.State{}},
				"a state of times": {setup(), snapshot.State{At: at(100), Marks: until(snapshot.PhaseDown).Marks}},
				"empty lists":      {setup(), snapshot.State{At: at(100), Marks: until(snapshot.PhaseDown).Marks, Sources: until(snapshot.PhaseClean).Sources}},
			} {
				if r := Hop(hop, in.s, in.st); clears(r.Verdict) || !r.At.IsZero() || len(r.Findings) == 0 {
					t.Errorf("hop %s on %s is %s at %s: %s", hop, name, r.Verdict, r.At, r.Reason)
				}
			}
		}
	}
}

func clears(v check.Verdict) bool { return v == check.Passed || v == check.NotApplicable }

// Every source that a hop needs must be readable when the hop passes, and must have been read.
func TestASourceThatIsNeededButUnreadableIsUnobserved(t *testing.T) {
	t.Parallel()
	for hop, r := range rules {
		for _, need := range r.needs {
			for why, change := range map[string]func(*snapshot.State){
				"forbidden": func(st *snapshot.State) { st.Problems = map[string]string{need: "forbidden"} },
				"down":      func(st *snapshot.State) { st.Problems = map[string]string{need + "/part": "down"} },
				"no complete list was read": func(st *snapshot.State) {
					st.Sources = slices.DeleteFunc(st.Sources, func(s string) bool { return s == need })
				},
			} {
				st := until(phaseOf(t, hop))
				change(&st)
				if r := Hop(hop, setup(), st); r.Verdict != check.Unobserved || !r.At.IsZero() || len(r.Findings) != 1 || r.Findings[0].Suspect == "" || !strings.Contains(r.Reason, why) {
					t.Errorf("hop %s without %s is %s: %s", hop, need, r.Verdict, r.Reason)
				}
			}
		}
	}
}

func TestLeftObjectsFailWhateverElseCouldNotBeRead(t *testing.T) {
	t.Parallel()
	st := until(snapshot.PhaseClean)
	st.Left, st.Problems = []snapshot.Ref{ref("NodePool", own)}, map[string]string{snapshot.ProblemLeft: "forbidden"}
	if r := Hop(snapshot.HopClean, setup(), st); r.Verdict != check.Failed || r.Findings[0].Suspect != "NodePool "+own {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}

func TestWhatCouldNotBeLookedAtIsUnobserved(t *testing.T) {
	t.Parallel()
	for hop, problem := range map[string]string{
		snapshot.HopAdapter: snapshot.ProblemAPIServices, snapshot.HopPool: snapshot.ProblemPools, snapshot.HopSeries: snapshot.ProblemPrometheus, snapshot.HopServed: snapshot.ProblemMetricsAPI,
		snapshot.HopPlaced: snapshot.ProblemPods, snapshot.HopFlat: snapshot.ProblemNodes, snapshot.HopLimitZero: snapshot.ProblemEvents, snapshot.HopLoad: snapshot.ProblemPods,
		snapshot.HopExporter: snapshot.ProblemExporter + "/gpu-02", snapshot.HopPrometheus: snapshot.ProblemPrometheus, snapshot.HopMetricsAPI: snapshot.ProblemMetricsAPI, snapshot.HopHPA: snapshot.ProblemHPA,
		snapshot.HopPods: snapshot.ProblemPods, snapshot.HopUnschedulable: snapshot.ProblemEvents, snapshot.HopNodeClaim: snapshot.ProblemClaims, snapshot.HopRegistered: snapshot.ProblemNodes,
		snapshot.HopReady: snapshot.ProblemNodes, snapshot.HopBound: snapshot.ProblemPods, snapshot.HopMetricFalls: snapshot.ProblemMetricsAPI, snapshot.HopHPADown: snapshot.ProblemHPA,
		snapshot.HopPodsGone: snapshot.ProblemPods, snapshot.HopNodesGone: snapshot.ProblemNodes, snapshot.HopClaimsGone: snapshot.ProblemClaims, snapshot.HopBystanders: snapshot.ProblemNodes,
		snapshot.HopGangBound: snapshot.ProblemPods, snapshot.HopGangNone: snapshot.ProblemEvents, snapshot.HopClean: snapshot.ProblemLeft,
	} {
		st := snapshot.State{At: at(100), Problems: map[string]string{problem: "forbidden"}}
		r := Hop(hop, setup(), st)
		if hop == snapshot.HopFlat { // an unobserved window takes precedence
			st = until(snapshot.PhaseControl)
			st.Problems = map[string]string{problem: "forbidden"}
			r = Hop(hop, setup(), st)
		}
		if r.Verdict != check.Unobserved || !strings.Contains(r.Reason, "forbidden") {
			t.Errorf("hop %s without %s is %s: %s", hop, problem, r.Verdict, r.Reason)
		}
	}
}

// negative is one way in which a hop does not hold.
type negative struct {
	name    string
	hop     string
	change  func(s *snapshot.Setup, st *snapshot.State)
	verdict check.Verdict // failed when empty
	suspect string        // pattern of the first finding's suspect
	says    string        // pattern of its message
	phase   string        // when not the hop's own
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, tt := range slices.Concat(beforeNegatives(), controlNegatives(), upNegatives(), downNegatives(), gangNegatives(), blameNegatives()) {
		t.Run(tt.hop+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			s, st := setup(), until(cmp.Or(tt.phase, phaseOf(t, tt.hop)))
			tt.change(&s, &st)
			r := Hop(tt.hop, s, st)
			want := tt.verdict
			if want == "" {
				want = check.Failed
			}
			if r.Verdict != want {
				t.Fatalf("%s, want %s: %s", r.Verdict, want, r.Reason)
			}
			if clears(want) {
				return
			}
			if len(r.Findings) == 0 {
				t.Fatalf("no finding: %s", r.Reason)
			}
			f := r.Findings[0]
			if !regexp.MustCompile(tt.suspect).MatchString(f.Suspect) || !regexp.MustCompile(tt.says).MatchString(f.Message) || f.Remedy == "" {
				t.Errorf("suspect %q: %q; next: %q\nwant suspect %s, message %s", f.Suspect, f.Message, f.Remedy, tt.suspect, tt.says)
			}
			if !strings.Contains(r.Reason, f.Message) || !r.At.IsZero() || strings.Contains(r.Reason+f.Remedy, "%!") {
				t.Errorf("at %s, reason %q", r.At, r.Reason)
			}
		})
	}
}

// podNamed, claimNamed and nodeNamed find what a test changes.
func podNamed(st *snapshot.State, name string) *snapshot.Pod {
	i := slices.IndexFunc(st.Pods, func(p snapshot.Pod) bool { return p.Name == name })
	return &st.Pods[i]
}

func claimNamed(st *snapshot.State, name string) *snapshot.Claim {
	i := slices.IndexFunc(st.Claims, func(c snapshot.Claim) bool { return c.Name == "claim-"+name })
	return &st.Claims[i]
}

func nodeNamed(st *snapshot.State, name string) *snapshot.Node {
	i := slices.IndexFunc(st.Nodes, func(n snapshot.Node) bool { return n.Name == name })
	return &st.Nodes[i]
}

// stranger is a pod that the run does not have.
func stranger(uid string) snapshot.Pod {
	return snapshot.Pod{Ref: snapshot.Ref{Kind: "Pod", Namespace: "research", Name: uid, UID: uid}}
}

// unplaced takes node, claim and nomination of a pod away; says is what
// Karpenter has against it.
func unplaced(st *snapshot.State, name, node, says string) {
	p := podNamed(st, name)
	p.Node, p.Phase, p.ReadyAt, p.BoundAt = "", "Pending", time.Time{}, time.Time{}
	st.Claims = slices.DeleteFunc(st.Claims, func(c snapshot.Claim) bool { return c.Name == "claim-"+node })
	st.Nodes = slices.DeleteFunc(st.Nodes, func(n snapshot.Node) bool { return n.Name == node })
	st.Events = slices.DeleteFunc(st.Events, func(e snapshot.Event) bool { return e.About.UID == p.UID && e.Reason == "Nominated" })
	if says != "" {
		st.Events = append(st.Events, snapshot.Event{About: p.Ref, Type: "Warning", Reason: "FailedScheduling", From: "karpenter", Message: "Failed to schedule pod, " + says, First: st.At})
	}
}

// FuzzHop: no state that can be decoded makes a judge panic, and none that lacks
// a time passes.
func FuzzHop(f *testing.F) {
	for _, p := range snapshot.Chain() {
		st := until(p.Name)
		state, err := json.Marshal(st)
		if err != nil {
			f.Fatal(err)
		}
		s, err := json.Marshal(setup())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s, state)
	}
	f.Add([]byte(`{}`), []byte(`{"pods":[{}],"nodes":[{}],"claims":[{}],"events":[{}],"desired":[{}],"api":[{}],"made":[{}],"hpa":{},"pools":[{}]}`))
	f.Fuzz(func(t *testing.T, rawSetup, rawState []byte) {
		var s snapshot.Setup
		var st snapshot.State
		if json.Unmarshal(rawSetup, &s) != nil || json.Unmarshal(rawState, &st) != nil {
			return
		}
		for _, p := range snapshot.Chain() {
			for _, hop := range p.Hops {
				r := Hop(hop, s, st)
				if r.Verdict == check.Passed && (r.Reason == "" || r.At.IsZero() && !st.At.IsZero()) {
					t.Errorf("hop %s passed without a time or a reason: %+v", hop, r)
				}
				if r.Verdict == check.Failed && len(r.Findings) == 0 {
					t.Errorf("hop %s failed without a finding", hop)
				}
			}
		}
	})
}
