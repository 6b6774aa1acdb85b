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

// repetition of an hour that began n hours after the soak.
func repetition(n float64, results ...plan.Result) Repetition {
	at := began.Add(hours(n).Duration)
	r := Repetition{Run: fmt.Sprintf("run-%v", n), Began: at, Ended: at.Add(time.Hour), Verdict: check.Passed, Cluster: "a", results: results}
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

func TestSummary(t *testing.T) {
	t.Parallel()
	done := State{Began: began, Duration: hours(3), Ended: true}
	other := repetition(1)
	other.Cluster = "b"
	partial := repetition(1)
	partial.Verdict = check.Partial
	for name, tt := range map[string]struct {
		state State
		all   []Repetition
		want  check.Verdict
		says  string
	}{
		"passed":              {done, []Repetition{repetition(0), repetition(1), repetition(2)}, check.Passed, "all of 3 repetitions passed"},
		"partial":             {done, []Repetition{repetition(0), partial, repetition(2)}, check.Partial, "1 of them without nodes"},
		"one failed":          {done, []Repetition{repetition(0), repetition(1, result(check.Failed, 300)), repetition(2)}, check.Failed, "1 of 3 repetitions failed"},
		"one unobserved":      {done, []Repetition{repetition(0), repetition(1, result(check.Unobserved, 300)), repetition(2)}, check.Unobserved, "1 of 3 repetitions were not observed"},
		"none":                {done, nil, check.Unobserved, "no repetition came to its end"},
		"not over":            {State{Began: began, Duration: hours(3)}, []Repetition{repetition(0)}, check.Unobserved, "the duration of 3h0m0s is not over"},
		"a gap":               {done, []Repetition{repetition(0), repetition(2)}, check.Unobserved, "from 2026-11-27T01:00:00Z to 2026-11-27T02:00:00Z"},
		"a short gap":         {done, []Repetition{repetition(0), repetition(1.2), repetition(2.2)}, check.Passed, ""},
		"late":                {done, []Repetition{repetition(1), repetition(2)}, check.Unobserved, "from 2026-11-27T00:00:00Z to 2026-11-27T01:00:00Z"},
		"down until its end":  {done, []Repetition{repetition(0)}, check.Unobserved, "from 2026-11-27T01:00:00Z to 2026-11-27T03:00:00Z"},
		"every two hours":     {State{Began: began, Duration: hours(5), Every: hours(2), Ended: true}, []Repetition{repetition(0), repetition(2), repetition(4)}, check.Passed, ""},
		"every hour, skipped": {State{Began: began, Duration: hours(5), Every: hours(2), Ended: true}, []Repetition{repetition(0), repetition(4)}, check.Unobserved, "from 2026-11-27T02:00:00Z to 2026-11-27T04:00:00Z"},
		"two clusters":        {done, []Repetition{repetition(0), other, repetition(2)}, check.Unobserved, "of 2 clusters"},
	} {
		s := Summarise(tt.state, tt.all)
		if s.Verdict != tt.want || !strings.Contains(s.Reason, tt.says) {
			t.Errorf("%s: %s: %s, want %s: %s", name, s.Verdict, s.Reason, tt.want, tt.says)
		}
	}
}

func TestChangesAndFigures(t *testing.T) {
	t.Parallel()
	slow := check.Finding{Suspect: "gpu-03", Message: "slow"}
	s := Summarise(State{Began: began, Duration: hours(4), Ended: true}, []Repetition{
		repetition(0, result(check.Passed, 366)), repetition(1, result(check.Failed, 300, slow)), repetition(2, result(check.Failed, 301, slow)), repetition(3, result(check.Passed, 360)),
	})
	var got []string
	for _, c := range s.Changes {
		got = append(got, c.Run+" "+c.Suspect+" "+c.Text)
	}
	want := "run-1  passed -> failed|run-1 gpu-03 slow|run-3  failed -> passed|run-3 gpu-03 gone: slow"
	if strings.Join(got, "|") != want {
		t.Errorf("changes %q, want %q", strings.Join(got, "|"), want)
	}
	if len(s.Figures) != 1 || s.Figures[0] != (Spread{Gate: "collective", Name: "busbw", Unit: "GB/s", Count: 4, First: 366, Last: 360, Least: 300, Median: 330.5, Most: 366}) {
		t.Errorf("figures %+v", s.Figures)
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

// A repetition takes an hour of the clock.
func TestRepetitionsAreScheduled(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		every metav1.Duration
		want  string
	}{
		"at once":         {hours(0), "0 1 2 3 4"},
		"every two hours": {hours(2), "0 2 4"},
		"every half hour": {hours(0.5), "0 1 2 3 4"},
	} {
		c := testclock.NewFakeClock(began)
		s := open(t, t.TempDir(), State{Duration: hours(5), Every: tt.every}, began, false)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // a timer ends as soon as it is set
			for ctx.Err() == nil {
				if c.HasWaiters() {
					c.Step(time.Minute)
				}
			}
		}()
		var at []string
		err := s.Run(ctx, c, time.Time{}, func(context.Context, bool) (string, error) {
			at = append(at, fmt.Sprint(c.Now().Sub(began).Hours()))
			c.Step(time.Hour)
			return fmt.Sprintf("run-%d", len(at)), nil
		})
		cancel()
		if err != nil || strings.Join(at, " ") != tt.want || !s.Ended || len(s.Runs) != len(at) {
			t.Errorf("%s: repetitions at %v, %+v, %v; want %s", name, at, s.State, err, tt.want)
		}
	}
}

func TestAnInterruptedSoakIsContinued(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), State{Duration: hours(5), Inputs: "x"}
	c := testclock.NewFakeClock(began)
	first := open(t, dir, want, began, false)
	interrupted := errors.New("interrupted")
	n := 0
	err := first.Run(t.Context(), c, time.Time{}, func(context.Context, bool) (string, error) {
		c.Step(time.Hour)
		if n++; n == 3 {
			return "", interrupted
		}
		return fmt.Sprintf("run-%d", n), nil
	})
	if !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	if _, err := Open(dir, want, c.Now(), false); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]State{"another duration": {Duration: hours(6), Inputs: "x"}, "another site": {Duration: hours(5), Inputs: "y"}} {
		if s := open(t, t.TempDir(), other, c.Now(), false); s.Resumed {
			t.Errorf("%s is continued", name)
		}
	}
	second := open(t, dir, want, c.Now(), false)
	if !second.Resumed || strings.Join(second.Runs, " ") != "run-1 run-2" || !second.Began.Equal(began) {
		t.Fatalf("continued: %+v", second.State)
	}
	var resumes []bool
	err = second.Run(t.Context(), c, began.Add(time.Hour), func(_ context.Context, resume bool) (string, error) {
		resumes = append(resumes, resume)
		c.Step(time.Hour)
		return fmt.Sprintf("run-%d", len(resumes)+2), nil
	})
	if err != nil || len(resumes) != 2 || !resumes[0] || resumes[1] || strings.Join(second.Runs, " ") != "run-1 run-2 run-3 run-4" {
		t.Errorf("%v, resumed %v, %v", err, resumes, second.Runs)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if s := open(t, dir, want, c.Now(), false); s.Resumed {
		t.Error("an ended soak is continued")
	}
}

func TestFreshBeginsAnother(t *testing.T) {
	t.Parallel()
	dir, want := t.TempDir(), State{Duration: hours(5)}
	open(t, dir, want, began, false)
	if s := open(t, dir, want, began.Add(time.Second), true); s.Resumed || s.ID != "20261127-000001" {
		t.Errorf("%+v", s.State)
	}
	if err := os.WriteFile(filepath.Join(dir, "soak-9.json"), []byte(`{"format":1,"id":"x","runs":[],"id":"y"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, want, began, false); err == nil || !strings.Contains(err.Error(), "soak-9.json") {
		t.Errorf("a file with a key twice: %v", err)
	}
}
