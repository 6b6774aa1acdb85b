package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

// meeting is a check that says when it is observing, and ends when let go.
type meeting struct {
	in, out chan string
}

func newMeeting() *meeting {
	return &meeting{in: make(chan string), out: make(chan string)}
}

func (m *meeting) check(name string) check.Check {
	return fakeCheck{name: name, observe: func(ctx context.Context, rec check.Recorder) error {
		select {
		case m.in <- name:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-m.out:
		case <-ctx.Done():
			return ctx.Err()
		}
		return see(rec, "thing")
	}}
}

func startRun(t *testing.T, w *Executor) <-chan Outcome {
	t.Helper()
	done := make(chan Outcome, 1)
	w.Store, w.Clock = newMemStore(), fixedClock()
	go func() {
		out, err := w.Run(t.Context())
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- out
	}()
	return done
}

func TestStepsThatFitRunSideBySide(t *testing.T) {
	t.Parallel()
	m := newMeeting()
	p := Plan{Name: "p", Steps: []Step{
		{Check: m.check("a"), GPUs: 16}, {Check: m.check("b"), GPUs: 16}, {Check: m.check("free")},
	}}
	done := startRun(t, &Executor{Plan: p, Capacity: func(context.Context) (int, error) { return 32, nil }})
	together := map[string]bool{<-m.in: true, <-m.in: true, <-m.in: true} // all three are in at once
	if len(together) != 3 {
		t.Errorf("together: %v", together)
	}
	for range 3 {
		m.out <- ""
	}
	if out := <-done; out.Verdict != check.Passed {
		t.Errorf("verdict %s", out.Verdict)
	}
}

func TestStepsThatDoNotFitRunInDeclaredOrder(t *testing.T) {
	t.Parallel()
	errAsk := errors.New("forbidden")
	for name, tt := range map[string]struct {
		capacity func(context.Context) (int, error)
		gpus     [3]int
		notes    int
	}{
		"together too many":       {func(context.Context) (int, error) { return 20, nil }, [3]int{16, 16, 8}, 0},
		"more than there are":     {func(context.Context) (int, error) { return 7, nil }, [3]int{8, 8, 8}, 0},
		"the count is unknown":    {nil, [3]int{1, 1, 1}, 0},
		"the question is refused": {func(context.Context) (int, error) { return 99, errAsk }, [3]int{1, 1, 1}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			running, order := 0, []string{}
			var steps []Step
			for i, n := range []string{"a", "b", "c"} {
				steps = append(steps, Step{GPUs: tt.gpus[i], Check: fakeCheck{name: n, observe: func(_ context.Context, rec check.Recorder) error {
					mu.Lock()
					running++
					if running > 1 {
						t.Errorf("%s runs in parallel with another check", n)
					}
					order = append(order, n)
					mu.Unlock()
					err := see(rec, "thing")
					mu.Lock()
					running--
					mu.Unlock()
					return err
				}}})
			}
			out, _ := runPlan(t, &Executor{Plan: Plan{Name: "p", Steps: steps}, Capacity: tt.capacity})
			if diff := cmp.Diff([]string{"a", "b", "c"}, order); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if out.Verdict != check.Passed || len(out.Notes) != tt.notes {
				t.Errorf("verdict %s, notes %v", out.Verdict, out.Notes)
			}
		})
	}
}

func TestALaterClaimDoesNotOvertake(t *testing.T) {
	t.Parallel()
	m := newMeeting()
	p := Plan{Name: "p", Steps: []Step{
		{Check: m.check("half"), GPUs: 16}, {Check: m.check("all"), GPUs: 32}, {Check: m.check("small"), GPUs: 1},
	}}
	done := startRun(t, &Executor{Plan: p, Capacity: func(context.Context) (int, error) { return 32, nil }})
	var order []string
	for range 3 {
		order = append(order, <-m.in) // one at a time: the next is in only once this one is out
		m.out <- ""
	}
	<-done
	if diff := cmp.Diff([]string{"half", "all", "small"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestCapacityIsAskedOnlyForClaimsAndOthersGoOn(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan int)
	m := newMeeting()
	p := Plan{Name: "p", Steps: []Step{{Check: m.check("gpu"), GPUs: 8}, {Check: m.check("cpu")}}}
	done := startRun(t, &Executor{Plan: p, Capacity: func(context.Context) (int, error) {
		asked <- struct{}{}
		return <-answer, nil
	}})
	<-asked
	if got := <-m.in; got != "cpu" { // while the answer is open
		t.Errorf("%s continued", got)
	}
	m.out <- ""
	answer <- 8
	if got := <-m.in; got != "gpu" {
		t.Errorf("%s continued", got)
	}
	m.out <- ""
	<-done

	never := func(context.Context) (int, error) { return 0, fmt.Errorf("asked") }
	if out, _ := runPlan(t, &Executor{Plan: linear(fakeCheck{name: "a"}), Capacity: never}); len(out.Notes) != 0 {
		t.Errorf("asked without a claim: %v", out.Notes)
	}
}

func TestNoMoreStepsThanAllowedAreUnderWay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	under, most := 0, 0
	busy := func(name string) check.Check {
		return fakeCheck{name: name, observe: func(_ context.Context, rec check.Recorder) error {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			err := see(rec, "thing")
			mu.Lock()
			under--
			mu.Unlock()
			return err
		}}
	}
	p := Plan{Name: "p"}
	for i := range 40 {
		p.Steps = append(p.Steps, Step{Check: busy(fmt.Sprint("s", i))})
	}
	out := <-startRun(t, &Executor{Plan: p, Parallel: 3})
	if out.Verdict != check.Passed || len(out.Results) != 40 {
		t.Errorf("got %s of %d steps", out.Verdict, len(out.Results))
	}
	if most > 3 {
		t.Errorf("%d steps were under way at one time, 3 are allowed", most)
	}
	m := newMeeting()
	p = Plan{Name: "two", Steps: []Step{{Check: m.check("a")}, {Check: m.check("b")}, {Check: m.check("c")}}}
	done := startRun(t, &Executor{Plan: p, Parallel: 2})
	<-m.in
	<-m.in // two are, at one time
	m.out <- ""
	<-m.in // and the third as soon as one ended
	m.out <- ""
	m.out <- ""
	<-done
}
