package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

var began = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

func hours(n float64) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(n * float64(time.Hour))}
}

// repetition of an hour that started n hours after the soak.
func repetition(n float64, results ...plan.Result) Repetition {
	at := began.Add(hours(n).Duration)
	r := Repetition{Run: fmt.Sprintf("run-%v", n), Started: at, Finished: at.Add(time.Hour), Verdict: check.Passed, Cluster: "a", results: results}
	for _, res := range results {
		if res.Verdict != check.Passed {
			r.Verdict = res.Verdict
		}
	}
	return r
}

func result(v check.Verdict, busbw float64, findings ...check.Finding) plan.Result {
	return plan.Result{Step: "collective", Judgement: check.Judgement{Verdict: v, Findings: findings, Figures: []check.Figure{{Name: "busbw", Value: busbw, Unit: "GB/s"}}}}
}

// with changes a repetition.
func with(r Repetition, change func(*Repetition)) Repetition {
	change(&r)
	return r
}

func TestSummary(t *testing.T) {
	t.Parallel()
	done := State{Started: began, Duration: hours(3), Complete: true}
	partial := func(host string) func(*Repetition) {
		return func(r *Repetition) { r.Verdict, r.LeftOut = check.Partial, []string{host} }
	}
	killed := func(after float64) func(*Repetition) {
		return func(r *Repetition) {
			r.Interrupted, r.Verdict, r.Cluster, r.Finished = true, check.Unobserved, "", r.Started.Add(hours(after).Duration)
		}
	}
	for name, tt := range map[string]struct {
		state State
		all   []Repetition
		want  check.Verdict
		says  string
	}{
		"passed":                          {done, []Repetition{repetition(0), repetition(1), repetition(2)}, check.Passed, "all of 3 repetitions passed"},
		"partial":                         {done, []Repetition{repetition(0), with(repetition(1), partial("gpu-01")), repetition(2)}, check.Partial, "1 of them without nodes"},
		"another node each time":          {done, []Repetition{repetition(0), with(repetition(1), partial("gpu-01")), with(repetition(2), partial("gpu-02"))}, check.Failed, "2 nodes failed, at most 1 are allowed: gpu-01, gpu-02"},
		"one failed":                      {done, []Repetition{repetition(0), repetition(1, result(check.Failed, 300)), repetition(2)}, check.Failed, "1 of 3 repetitions failed"},
		"one unobserved":                  {done, []Repetition{repetition(0), repetition(1, result(check.Unobserved, 300)), repetition(2)}, check.Unobserved, "1 of 3 repetitions were not observed"},
		"none":                            {done, nil, check.Unobserved, "no repetition passed"},
		"interrupted only":                {done, []Repetition{with(repetition(0), killed(3))}, check.Unobserved, "no repetition passed"},
		"interrupted and repeated":        {done, []Repetition{repetition(0), with(repetition(1), killed(0.9)), repetition(2)}, check.Passed, "all of 2 repetitions passed; 1 more ended before their verdict"},
		"interrupted early":               {done, []Repetition{repetition(0), with(repetition(1), killed(0.1)), repetition(2)}, check.Unobserved, "from 2026-11-27T01:06:00Z to 2026-11-27T02:00:00Z"},
		"interrupted after a failed gate": {done, []Repetition{repetition(0), with(repetition(1), func(r *Repetition) { killed(0.9)(r); r.Verdict = check.Failed }), repetition(2)}, check.Failed, "1 of 3"},
		"the last one interrupted":        {done, []Repetition{repetition(0), repetition(1), with(repetition(2), killed(0.9))}, check.Passed, "all of 2"},
		"not over":                        {State{Started: began, Duration: hours(3)}, []Repetition{repetition(0)}, check.Unobserved, "the duration of 3h0m0s is not over"},
		"a gap":                           {done, []Repetition{repetition(0), repetition(2)}, check.Unobserved, "from 2026-11-27T01:00:00Z to 2026-11-27T02:00:00Z"},
		"a short gap":                     {done, []Repetition{repetition(0), repetition(1.2), repetition(2.2)}, check.Passed, ""},
		"late":                            {done, []Repetition{repetition(1), repetition(2)}, check.Unobserved, "from 2026-11-27T00:00:00Z to 2026-11-27T01:00:00Z"},
		"down until its end":              {done, []Repetition{repetition(0)}, check.Unobserved, "from 2026-11-27T01:00:00Z to 2026-11-27T03:00:00Z"},
		"every two hours":                 {State{Started: began, Duration: hours(5), Every: hours(2), Complete: true}, []Repetition{repetition(0), repetition(2), repetition(4)}, check.Passed, ""},
		"every two hours, skipped":        {State{Started: began, Duration: hours(5), Every: hours(2), Complete: true}, []Repetition{repetition(0), repetition(4)}, check.Unobserved, "from 2026-11-27T02:00:00Z to 2026-11-27T04:00:00Z"},
		"two clusters":                    {done, []Repetition{repetition(0), with(repetition(1), func(r *Repetition) { r.Cluster = "b" }), repetition(2)}, check.Unobserved, "of 2 clusters"},
		"no cluster":                      {done, []Repetition{repetition(0), with(repetition(1), func(r *Repetition) { r.Cluster = "" }), repetition(2)}, check.Unobserved, "was not identified"},
	} {
		s := Summarise(tt.state, tt.all, 1)
		if s.Verdict != tt.want || !strings.Contains(s.Reason, tt.says) {
			t.Errorf("%s: %s: %s, want %s: %s", name, s.Verdict, s.Reason, tt.want, tt.says)
		}
	}
}

func TestLongestGap(t *testing.T) {
	t.Parallel()
	for duration, want := range map[metav1.Duration]time.Duration{hours(72): time.Hour, hours(5): 30 * time.Minute, hours(0.01): time.Minute} {
		if got := (State{Duration: duration}).maxGap(); got != want {
			t.Errorf("%s: %s, want %s", duration.Duration, got, want)
		}
	}
}

func TestChangesAndFigures(t *testing.T) {
	t.Parallel()
	slow := check.Finding{Suspect: "gpu-03", Message: "slow"}
	s := Summarise(State{Started: began, Duration: hours(6), Complete: true}, []Repetition{
		repetition(0, result(check.Passed, 366)), repetition(1, result(check.Failed, 300, slow)), repetition(2, result(check.Failed, 301, slow)),
		repetition(3, plan.Result{Step: "collective", Judgement: check.Judgement{Verdict: check.Blocked}}), repetition(4, result(check.Failed, 302, slow)),
		repetition(5, result(check.Passed, 360)),
	}, 0)
	var got []string
	for _, c := range s.Changes {
		got = append(got, fmt.Sprint(c.Run, " ", c.Suspect, " ", c.Gone, " ", c.Text))
	}
	want := "run-1  false passed -> failed|run-1 gpu-03 false slow|run-3  false failed -> blocked|run-4  false blocked -> failed|run-5  false failed -> passed|run-5 gpu-03 true slow"
	if strings.Join(got, "|") != want {
		t.Errorf("changes %q, want %q", strings.Join(got, "|"), want)
	}
	if len(s.Figures) != 1 || s.Figures[0] != (Spread{Gate: "collective", Name: "busbw", Unit: "GB/s", Count: 5, First: 366, Last: 360, Min: 300, Median: 302, Max: 366}) {
		t.Errorf("figures %+v", s.Figures)
	}
}

// The first result of a gate does not count as a change. Figures are in the order of their first values; one value
// alone has no spread.
func TestFirstResultsAndFigures(t *testing.T) {
	t.Parallel()
	figures := func(v check.Verdict, names ...string) plan.Result {
		r := plan.Result{Step: "collective", Judgement: check.Judgement{Verdict: v, Findings: []check.Finding{{Suspect: "gpu-03", Message: "slow"}}}}
		for _, name := range names {
			r.Figures = append(r.Figures, check.Figure{Name: name, Value: 1, Unit: "GB/s"})
		}
		return r
	}
	all := []Repetition{repetition(0, figures(check.Failed, "a", "b", "once")), repetition(1, figures(check.Failed, "b")), repetition(2, figures(check.Failed, "a"))}
	if got := changes(all); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	var got []string
	for _, s := range spreads(all) {
		got = append(got, fmt.Sprint(s.Name, " ", s.Count))
	}
	if strings.Join(got, ", ") != "a 2, b 2" {
		t.Errorf("%q", got)
	}
}

func open(t *testing.T, dir string, want State, at time.Time, fresh bool) *Soak {
	t.Helper()
	s, err := Open(dir, want, at, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// schedule runs a soak in which a repetition takes so long, and returns the starts in hours.
func schedule(t *testing.T, s *Soak, c *testclock.FakeClock, last time.Time, takes time.Duration, verdict check.Verdict) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // a timer ends as soon as it is set
		for ctx.Err() == nil {
			if c.HasWaiters() {
				c.Step(time.Second * 30)
			}
		}
	}()
	var at []string
	err := s.Run(ctx, c, last, func(context.Context) (check.Verdict, error, error) {
		at = append(at, fmt.Sprintf("%.2f", c.Now().Sub(began).Hours()))
		c.Step(takes)
		return verdict, nil, nil
	})
	if err != nil || !s.Complete {
		t.Errorf("%+v: %v", s.State, err)
	}
	return strings.Join(at, " ")
}

func TestRepetitionsAreScheduled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		every, takes metav1.Duration
		now, last    float64 // -1: no earlier repetition
		verdict      check.Verdict
		want         string
	}{
		"at once":                        {hours(0), hours(1), 0, -1, check.Passed, "0.00 1.00 2.00 3.00 4.00"},
		"every two hours":                {hours(2), hours(1), 0, -1, check.Passed, "0.00 2.00 4.00"},
		"every half hour":                {hours(0.5), hours(1), 0, -1, check.Passed, "0.00 1.00 2.00 3.00 4.00"},
		"continued":                      {hours(2), hours(1), 2.5, 2, check.Passed, "4.00"},
		"continued, overdue":             {hours(2), hours(1), 4.5, 2, check.Passed, "4.50"},
		"continued after its end":        {hours(0), hours(1), 5.1, 4, check.Passed, ""},
		"a failure that is seen at once": {hours(0), metav1.Duration{Duration: time.Second}, 4.96, -1, check.Failed, "4.96 4.98 4.99"},
	} {
		c := testclock.NewFakeClock(began.Add(hours(tt.now).Duration))
		s := open(t, t.TempDir(), State{Duration: hours(5), Every: tt.every}, began, false)
		var last time.Time
		if tt.last >= 0 {
			last = began.Add(hours(tt.last).Duration)
		}
		if got := schedule(t, s, c, last, tt.takes.Duration, tt.verdict); got != tt.want {
			t.Errorf("%s: repetitions at %s, want %s", name, got, tt.want)
		}
	}
}

func TestAnInterruptedSoakIsContinued(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), State{Duration: hours(5), Inputs: "x"}
	first := open(t, dir, want, began, false)
	interrupted := errors.New("interrupted")
	if err := first.Run(t.Context(), testclock.NewFakeClock(began), time.Time{}, func(context.Context) (check.Verdict, error, error) { return "", nil, interrupted }); !errors.Is(err, interrupted) || first.Complete {
		t.Fatal(err)
	}
	at := began.Add(time.Hour)
	if _, err := Open(dir, want, at, false); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	if _, err := Open(dir, want, at, true); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process with another soak: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		want  State
		at    time.Time
		fresh bool
		same  bool
	}{
		"another site":     {State{Duration: hours(5), Inputs: "y"}, at, false, false},
		"another duration": {State{Duration: hours(6), Inputs: "x"}, at, false, false},
		"another interval": {State{Duration: hours(5), Every: hours(1), Inputs: "x"}, at, false, false},
		"--fresh":          {want, at, true, false},
		"long over":        {want, began.Add(hours(6).Duration), false, false},
		"the same":         {want, at, false, true},
		"just over":        {want, began.Add(hours(5.2).Duration), false, true},
	} {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		s := open(t, copied, tt.want, tt.at, tt.fresh)
		if s.Continued != tt.same || tt.same != s.Started.Equal(began) {
			t.Errorf("%s: continued %t: %+v", name, s.Continued, s.State)
		}
	}
}

// A repetition that ends with an error while its process lives is in the file of the soak, whether it
// had a run or not. One whose process ends has no end.
func TestRepetitionsAreRecorded(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), State{Duration: hours(1)}
	s := open(t, dir, want, began, false)
	c := testclock.NewFakeClock(began)
	n, killed := 0, errors.New("killed")
	err := s.Run(t.Context(), c, time.Time{}, func(context.Context) (check.Verdict, error, error) {
		c.Step(2 * time.Minute)
		switch n++; n {
		case 1:
			return check.Passed, nil, s.Began("run-1")
		case 2:
			return check.Unobserved, errors.New("the Lease was not renewed"), s.Began("run-2")
		case 3:
			return check.Unobserved, errors.New("no cluster"), nil
		default:
			return "", nil, errors.Join(killed, s.Began("run-4"))
		}
	})
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	stored, _, err := newest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range stored.Attempts {
		got = append(got, fmt.Sprint(a.Started.Sub(began), " ", a.Run, " ", !a.Ended.IsZero(), " ", a.Verdict, " ", a.Error))
	}
	if text := strings.Join(got, "|"); text != "0s run-1 true passed |2m0s run-2 true unobserved the Lease was not renewed|4m0s  true unobserved no cluster|6m0s run-4 false  " {
		t.Errorf("%q", text)
	}
}

// A soak whose repetitions the cluster ends is not observed, however many of them pass. A killed one
// still does not count.
func TestRepetitionsThatEndedWithAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cut  string
		want check.Verdict
		says string
	}{
		"killed":              {"", check.Passed, "all of 2 repetitions passed"},
		"ended by an error":   {"the Lease of the run was not renewed for 1m0s", check.Unobserved, "2 of 4 repetitions were not observed"},
		"failed, then killed": {"", check.Failed, "1 of 3 repetitions failed"},
	} {
		dir := t.TempDir()
		s := State{ID: "s", Duration: hours(1), Complete: true}
		wanted := 1
		if tt.want == check.Failed {
			wanted = 2
		}
		stored(t, dir, "s", 1, false)
		cut := stored(t, dir, "s", wanted, true)
		stored(t, dir, "s", 1, false)
		all, err := Repetitions(dir, s)
		if err != nil {
			t.Fatal(err)
		}
		s.Started = all[0].Started
		s.Duration.Duration = all[2].Finished.Sub(s.Started)
		s.Attempts = []Attempt{{Started: all[1].Started, Run: cut, Error: tt.cut}}
		if tt.cut != "" { // another one without evidence
			s.Attempts = append(s.Attempts, Attempt{Started: all[1].Started, Ended: all[1].Finished, Error: tt.cut})
		}
		if all, err = Repetitions(dir, s); err != nil {
			t.Fatal(err)
		}
		sum := Summarise(s, all, 0)
		if sum.Verdict != tt.want || !strings.Contains(sum.Reason, tt.says) {
			t.Errorf("%s: %s: %s", name, sum.Verdict, sum.Reason)
		}
		for _, r := range all {
			if r.Verdict == check.Unobserved && r.Decided != tt.cut {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func TestAnUnreadableSoak(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), State{Duration: hours(5)}
	if err := os.WriteFile(filepath.Join(dir, "soak-20260101-000000.json"), []byte(`{"format":1,"id":"x","id":"y"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, want, began, false); err == nil || !strings.Contains(err.Error(), "soak-20260101-000000.json") {
		t.Errorf("a file with a key twice: %v", err)
	}
	if s := open(t, dir, want, began, true); s.Continued {
		t.Errorf("%+v", s.State)
	}
}
