package plan

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunInOrder(t *testing.T) {
	t.Parallel()
	w := &Executor{Plan: linear(fakeCheck{name: "a"}, fakeCheck{name: "b"})}
	out, store := runPlan(t, w)
	if out.Verdict != check.Passed {
		t.Errorf("verdict %s", out.Verdict)
	}
	want := []string{
		"begin a", "record thing a", "read a", "conclude passed a",
		"begin b", "record thing b", "read b", "conclude passed b",
	}
	if diff := cmp.Diff(want, store.log); diff != "" {
		t.Errorf("calls of the store (-want +got):\n%s", diff)
	}
	if got := out.Results[0]; got.Attempt != 1 || got.Duration() <= 0 || len(got.Observations) != 1 {
		t.Errorf("result %+v lacks its attempt, duration or observations", got)
	}
}

func TestAFailureBlocksWhatNeedsIt(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]struct {
		check check.Check
		own   check.Verdict
		all   check.Verdict
	}{
		"failed":     {failing("b"), check.Failed, check.Failed},
		"unobserved": {fakeCheck{name: "b", observe: func(context.Context, check.Recorder) error { return nil }}, check.Unobserved, check.Unobserved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := linear(fakeCheck{name: "a"}, bad.check, fakeCheck{name: "c"}, fakeCheck{name: "d"})
			p.Steps = append(p.Steps, Step{Check: fakeCheck{name: "e"}, Needs: []string{"a"}})
			out, _ := runPlan(t, &Executor{Plan: p})
			want := map[string]check.Verdict{"a": check.Passed, "b": bad.own, "c": check.Blocked, "d": check.Blocked, "e": check.Passed}
			if diff := cmp.Diff(want, verdicts(out)); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			if out.Verdict != bad.all {
				t.Errorf("overall %s, want %s", out.Verdict, bad.all)
			}
			if reason := out.Results[2].Reason; reason != "b is "+string(bad.own) {
				t.Errorf("c's reason %q does not name b", reason)
			}
		})
	}
}

func TestNotApplicableClearsTheWayUnseen(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a"}, fakeCheck{name: "b"})
	p.Steps[0].NotApplicable = "no such thing here"
	out, store := runPlan(t, &Executor{Plan: p})
	want := map[string]check.Verdict{"a": check.NotApplicable, "b": check.Passed}
	if diff := cmp.Diff(want, verdicts(out)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if store.log[0] != "conclude not-applicable a" || out.Results[0].Reason != "no such thing here" {
		t.Errorf("a was begun, or lost its reason: %v", store.log)
	}
}

// c needs b, which is not applicable and needs a.
func TestNotApplicableNeedStillBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		a    check.Check
		want check.Verdict
	}{
		"failed":     {failing("a"), check.Blocked},
		"unobserved": {fakeCheck{name: "a", observe: func(context.Context, check.Recorder) error { return nil }}, check.Blocked},
		"passed":     {fakeCheck{name: "a"}, check.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := linear(tt.a, fakeCheck{name: "b"}, fakeCheck{name: "n"}, fakeCheck{name: "c"})
			p.Steps[1].NotApplicable, p.Steps[2].NotApplicable = "one GPU a node", "one GPU a node"
			out, _ := runPlan(t, &Executor{Plan: p})
			c := out.Results[3]
			if c.Verdict != tt.want || tt.want == check.Blocked && c.Reason != "a is "+string(out.Results[0].Verdict) {
				t.Errorf("c is %s: %s, want %s", c.Verdict, c.Reason, tt.want)
			}
		})
	}
}

func TestANotApplicableStepKeepsTheOrderOfItsNeighbours(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(s *Step, on string){
		"needs": func(s *Step, on string) { s.Needs = []string{on} },
		"after": func(s *Step, on string) { s.After = []string{on} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Plan{Name: "test", Steps: []Step{{Check: fakeCheck{name: "a"}}, {Check: fakeCheck{name: "b"}, NotApplicable: "none"}, {Check: fakeCheck{name: "c"}}}}
			link(&p.Steps[1], "a")
			link(&p.Steps[2], "b")
			_, store := runPlan(t, &Executor{Plan: p})
			if a, c := slices.Index(store.log, "conclude passed a"), slices.Index(store.log, "begin c"); a < 0 || c < a {
				t.Errorf("c began before a ended: %v", store.log)
			}
		})
	}
}

func TestAllNotApplicableIsNoPass(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a"})
	p.Steps[0].NotApplicable = "because"
	if out, _ := runPlan(t, &Executor{Plan: p}); out.Verdict != check.Unobserved {
		t.Errorf("verdict %s", out.Verdict)
	}
}

func TestWhatPreparingPrintsIsKeptAndDecidesNothing(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a"})
	p.Steps[0].Prepare = []Prepare{
		fakePrepare{"first", func(out io.Writer) (int, error) { _, _ = io.WriteString(out, "hello"); return 3, nil }},
		fakePrepare{"second", func(io.Writer) (int, error) { return -1, errors.New("not found") }},
		fakePrepare{"third", func(io.Writer) (int, error) { panic("boom") }},
	}
	out, store := runPlan(t, &Executor{Plan: p})
	obs := store.obs["a1"]
	if len(obs) != 4 || obs[0].Kind != KindPrepare || *obs[0].Exit != 3 || string(obs[0].Raw) != "hello" {
		t.Fatalf("observations %+v", obs)
	}
	if obs[1].Err != "not found" || !strings.Contains(obs[2].Err, "boom") {
		t.Errorf("errors %q and %q", obs[1].Err, obs[2].Err)
	}
	if out.Verdict != check.Passed {
		t.Errorf("verdict %s: a prepare decided", out.Verdict)
	}
}

func TestObserveErrorsAndPanicsAreEvidence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		check fakeCheck
		want  check.Verdict
		says  string
	}{
		"error before anything": {fakeCheck{observe: func(context.Context, check.Recorder) error { return errors.New("no cluster") }}, check.Unobserved, "no cluster"},
		"error after something": {fakeCheck{observe: func(_ context.Context, rec check.Recorder) error {
			return errors.Join(see(rec, "thing"), errors.New("half way"))
		}}, check.Unobserved, "half way"},
		"panic": {fakeCheck{observe: func(context.Context, check.Recorder) error { panic("nil map") }}, check.Unobserved, "panicked: nil map"},
		"error, and the observation fails": {fakeCheck{
			observe: func(_ context.Context, rec check.Recorder) error {
				return errors.Join(see(rec, "thing"), errors.New("x"))
			},
			judge: func([]check.Observation) check.Judgement { return check.Fail("broken") },
		}, check.Failed, "broken"},
		"panic in judge": {fakeCheck{judge: func([]check.Observation) check.Judgement { panic("div") }}, check.Unobserved, "div"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.check.name = "a"
			out, store := runPlan(t, &Executor{Plan: linear(tt.check)})
			if got := out.Results[0]; got.Verdict != tt.want || !strings.Contains(got.Reason, tt.says) {
				t.Errorf("%s %q, want %s %q", got.Verdict, got.Reason, tt.want, tt.says)
			}
			if tt.check.observe != nil && !strings.Contains(strings.Join(store.log, "\n"), "record error a") {
				t.Errorf("the error was not recorded: %v", store.log)
			}
		})
	}
}

func TestTheRecorderRefuses(t *testing.T) {
	t.Parallel()
	var late check.Recorder
	for name, o := range map[string]check.Observation{
		"no kind":           {Target: "x"},
		"the engine's kind": {Kind: KindError, Err: "forged"},
		"figures no JSON":   {Kind: "thing", Figures: json.RawMessage(`{"n":`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fakeCheck{name: "a", observe: func(_ context.Context, rec check.Recorder) error {
				_, err := rec.Record(o)
				return err
			}}
			if out, _ := runPlan(t, &Executor{Plan: linear(c)}); out.Verdict != check.Unobserved {
				t.Errorf("verdict %s", out.Verdict)
			}
		})
	}
	c := fakeCheck{name: "a", observe: func(_ context.Context, rec check.Recorder) error {
		late = rec
		return see(rec, "thing")
	}}
	_, store := runPlan(t, &Executor{Plan: linear(c)})
	if err := see(late, "thing"); !errors.Is(err, errClosed) || len(store.obs["a1"]) != 1 {
		t.Errorf("recording after the verdict: %v", err)
	}
}

func TestAStoreThatFailsEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"begin", "record thing", "read", "conclude passed"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			store := newMemStore()
			store.fail = func(did, step string) error {
				if did == what && step == "b" {
					return errStore
				}
				return nil
			}
			c := fakeCheck{name: "b", observe: func(_ context.Context, rec check.Recorder) error {
				_ = see(rec, "thing") // a check that does not care
				return nil
			}}
			out, err := (&Executor{Plan: linear(fakeCheck{name: "a"}, c, fakeCheck{name: "c"}), Store: store}).Run(t.Context())
			if !errors.Is(err, errStore) {
				t.Fatalf("error %v", err)
			}
			if _, judged := verdicts(out)["b"]; judged || out.Interrupted {
				t.Errorf("outcome %+v", out)
			}
			if strings.Contains(strings.Join(store.log, "\n"), "begin c") {
				t.Error("the executor continued")
			}
		})
	}
}

func TestAStoreThatFailsForABlockedStep(t *testing.T) {
	t.Parallel()
	store := newMemStore()
	store.fail = func(did, _ string) error {
		if did == "conclude blocked" {
			return errStore
		}
		return nil
	}
	_, err := (&Executor{Plan: linear(failing("a"), fakeCheck{name: "b"}), Store: store}).Run(t.Context())
	if !errors.Is(err, errStore) {
		t.Errorf("error %v", err)
	}
}

func TestEventsFollowTheJournal(t *testing.T) {
	t.Parallel()
	var got []string
	c := fakeCheck{name: "a", observe: func(_ context.Context, rec check.Recorder) error {
		rec.Progress("at %d %%", 50)
		return see(rec, "thing")
	}}
	w := &Executor{Plan: linear(c, failing("b"), fakeCheck{name: "c"}), Events: func(e Event) {
		got = append(got, strings.TrimSpace(string(e.Kind)+" "+e.Step+" "+e.Text))
	}}
	runPlan(t, w)
	want := []string{
		"started a", "progress a at 50 %", "observed a a-1-1", "verdict a",
		"started b", "observed b b-1-1", "verdict b", "verdict c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A check with After waits for the verdict of that step, whichever value it has.
func TestAfterAFailure(t *testing.T) {
	t.Parallel()
	p := Plan{Name: "p", Steps: []Step{
		{Check: fakeCheck{name: "c"}, Needs: []string{"a"}, After: []string{"b"}},
		{Check: fakeCheck{name: "a"}},
		{Check: failing("b"), Needs: []string{"a"}},
	}}
	order, err := p.Order()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(order)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	out, store := runPlan(t, &Executor{Plan: p})
	want := map[string]check.Verdict{"a": check.Passed, "b": check.Failed, "c": check.Passed}
	if diff := cmp.Diff(want, verdicts(out)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if out.Verdict != check.Failed {
		t.Errorf("overall %s", out.Verdict)
	}
	if begun, concluded := slices.Index(store.log, "begin c"), slices.Index(store.log, "conclude failed b"); begun < concluded {
		t.Errorf("c was begun before b was decided: %v", store.log)
	}
	p.Steps[0].After = []string{"x"}
	if err := p.Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("after an unknown step: %v", err)
	}
}
