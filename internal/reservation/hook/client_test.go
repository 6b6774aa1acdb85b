package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// script plays the attempts of a hook, and the fence before each.
type script struct {
	t       *testing.T
	fence   func(n int) error
	play    func(r Request) (Output, error)
	checked int
	ran     []Request
}

func (s *script) Check(_ context.Context, reservation string, tok int64) error {
	s.checked++
	if reservation != "aws-h100" || tok != token {
		s.t.Errorf("checked %s, %d", reservation, tok)
	}
	if s.fence == nil {
		return nil
	}
	return s.fence(s.checked)
}

func (s *script) Run(_ context.Context, r Request, body []byte) (Output, error) {
	if _, err := ParseRequest(body); err != nil {
		s.t.Errorf("a request that is wrong: %v", err)
	}
	s.ran = append(s.ran, r)
	return s.play(r)
}

func (s *script) client(clock *fakeClock) *Client {
	limits := DefaultLimits()
	for v, l := range limits {
		l.Attempts, l.Backoff = 3, time.Second
		limits[v] = l
	}
	config := &Config{Owner: "team-a", Hooks: map[config.Cloud]Hook{config.AWS: {Cloud: config.AWS, Command: []string{"x"}, Limits: limits}}}
	return New(Options{Config: config, Fence: s, Clock: clock, Jitter: func(d time.Duration) time.Duration { return d }, Runner: func(Hook) (Runner, error) { return s, nil }})
}

func done(t *testing.T, verb Verb) Output {
	return Output{Response: []byte(text(t, answered(verb)))}
}

var errStale = &lease.StaleError{Token: token, Highest: token + 1, State: lease.Free}

func TestAttempts(t *testing.T) {
	t.Parallel()
	temporary := Output{Status: ExitTemporary, Log: []string{"throttled"}}
	for _, tt := range []struct {
		name  string
		fence func(n int) error
		play  func(t *testing.T, r Request) (Output, error)
		ran   int
		want  string // of the error; empty: none
	}{
		{"at once", nil, func(t *testing.T, r Request) (Output, error) { return done(t, Provision), nil }, 1, ""},
		{"the third time", nil, func(t *testing.T, r Request) (Output, error) {
			if r.Attempt < 3 {
				return temporary, nil
			}
			return done(t, Provision), nil
		}, 3, ""},
		{"never", nil, func(*testing.T, Request) (Output, error) { return temporary, nil }, 3, "attempt 3: temporary failure: exit status 75: throttled\n  | throttled"},
		{"failed for good", nil, func(*testing.T, Request) (Output, error) {
			return Output{Status: 1, Response: []byte(`{"apiVersion":"hooks.firstlight.dev/v1","error":"no capacity"}`)}, nil
		}, 1, "exit status 1: no capacity"},
		{"failed and silent", nil, func(*testing.T, Request) (Output, error) { return Output{Status: 2}, nil }, 1, "exit status 2, without output"},
		{"done and an error", nil, func(*testing.T, Request) (Output, error) {
			return Output{Response: []byte(`{"apiVersion":"hooks.firstlight.dev/v1","error":"no"}`)}, nil
		}, 1, "the response has an error: no"},
		{"done and nothing", nil, func(*testing.T, Request) (Output, error) { return Output{}, nil }, 1, "empty"},
		{"another's", nil, func(t *testing.T, r Request) (Output, error) {
			resp := answered(Provision)
			resp.Deployment.Token--
			return Output{Response: []byte(text(t, resp))}, nil
		}, 1, "has token label"},
		{"not there", nil, func(*testing.T, Request) (Output, error) { return Output{}, errors.New("no such program") }, 1, "no such program"},
		{"at the limit", nil, func(t *testing.T, r Request) (Output, error) {
			if r.Attempt == 1 {
				return Output{}, ErrTemporary
			}
			return done(t, Provision), nil
		}, 2, ""},
		{"stale before the first", func(int) error { return errStale }, nil, 0, "is stale"},
		{"stale before the second", func(n int) error {
			if n == 2 {
				return errStale
			}
			return nil
		}, func(*testing.T, Request) (Output, error) { return temporary, nil }, 1, "is stale"},
		{"fence unreachable", func(int) error { return errors.New("refused") }, nil, 0, "attempt 3: temporary failure: refused"},
		{"fence unreachable at first", func(n int) error {
			if n == 1 {
				return errors.New("refused")
			}
			return nil
		}, func(t *testing.T, _ Request) (Output, error) { return done(t, Provision), nil }, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, fence: tt.fence, play: func(r Request) (Output, error) { return tt.play(t, r) }}
			clock := &fakeClock{now: time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)}
			got, err := s.client(clock).Provision(t.Context(), row(), config.Training, "fl-day-ah1-x", Lease{Token: token})
			if len(s.ran) != tt.ran {
				t.Errorf("it ran %d times, want %d", len(s.ran), tt.ran)
			}
			if tt.want == "" {
				if diff := cmp.Diff(provisioned(), got); err != nil || diff != "" {
					t.Errorf("%v\n%s", err, diff)
				}
				return
			}
			var failed *FailedError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// If child processes of a hook cannot be killed, the error reports them and the end of the hook, the
// result is returned, and no attempt follows.
func TestResultIsKeptIfChildrenAreLeft(t *testing.T) {
	t.Parallel()
	left := &proctree.LeftError{PIDs: []int{7}}
	for _, tt := range []struct {
		name   string
		out    Output
		want   string
		result Result
	}{
		{"passed", done(t, Test), "the hook itself succeeded", *answered(Test).Result},
		{"failed", Output{Status: 3, Log: []string{"no capacity"}}, "exit status 3: no capacity", Result{}},
		{"temporary", Output{Status: ExitTemporary, Log: []string{"throttled"}}, "exit status 75: throttled", Result{}},
		{"no response", Output{}, "read the response: empty", Result{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, play: func(Request) (Output, error) {
				tt.out.Ended = true
				return tt.out, fmt.Errorf("run hook: %w", left)
			}}
			got, err := s.client(&fakeClock{}).Test(t.Context(), row(), "v1.2.0", config.Training, "fl-day-ah1-x", Lease{Token: token})
			if !errors.Is(err, left) || errors.Is(err, ErrTemporary) || !strings.Contains(err.Error(), "processes [7]") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q with the processes", err, tt.want)
			}
			if got != tt.result || len(s.ran) != 1 {
				t.Errorf("%d attempts, result %+v, want %+v", len(s.ran), got, tt.result)
			}
		})
	}
}

// A failure has the exit status and the response of the last attempt, so that callers do not read
// its text.
func TestFailureHasTheEndOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	exit := func(n int) *int { return &n }
	answer := func(verb Verb) *Response { r := answered(verb); return &r }
	refusal := &Response{APIVersion: APIVersion, Error: "no capacity"}
	ended := func(out Output) Output { out.Ended = true; return out }
	for _, tt := range []struct {
		name string
		verb Verb
		out  Output
		err  error
		want End
	}{
		{"provisioned, children left", Provision, ended(done(t, Provision)), errors.New("left"), End{ExitStatus: exit(0), Response: answer(Provision)}},
		{"deleted, children left", Teardown, ended(done(t, Teardown)), errors.New("left"), End{ExitStatus: exit(0), Response: answer(Teardown)}},
		{"refused", Provision, Output{Status: 3, Response: []byte(text(t, refusal)), Log: []string{"error"}}, nil, End{ExitStatus: exit(3), Response: refusal, Log: []string{"error"}}},
		{"temporary", Provision, Output{Status: ExitTemporary, Response: []byte(text(t, refusal))}, nil, End{ExitStatus: exit(ExitTemporary), Response: refusal}},
		{"an error, but exit status 0", Provision, Output{Response: []byte(text(t, Response{APIVersion: APIVersion, Error: "no capacity", Deleted: true}))}, nil, End{ExitStatus: exit(0), Response: refusal}},
		{"no response", Teardown, Output{Status: 1, Log: []string{"no rights"}}, nil, End{ExitStatus: exit(1), Log: []string{"no rights"}}},
		{"did not run", Teardown, Output{Log: []string{"begun"}}, errors.New("timeout"), End{Log: []string{"begun"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := (&script{t: t, play: func(Request) (Output, error) { return tt.out, tt.err }}).client(&fakeClock{})
			_, err := c.Provision(t.Context(), row(), config.Training, "fl-day-ah1-x", Lease{Token: token})
			if tt.verb == Teardown {
				err = c.Teardown(t.Context(), row(), "fl-day-ah1-x", Lease{Token: token})
			}
			f := FailureOf(fmt.Errorf("take it down: %w", err))
			if f == nil || f.Verb != tt.verb {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(tt.want, f.Last); diff != "" {
				t.Error(diff)
			}
		})
	}
	if f := FailureOf(errors.New("no hook")); f != nil {
		t.Errorf("%+v", f)
	}
}

func TestPausesDouble(t *testing.T) {
	t.Parallel()
	s := &script{t: t, play: func(Request) (Output, error) { return Output{Status: ExitTemporary}, nil }}
	clock := &fakeClock{now: time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)}
	begin := clock.now
	_, err := s.client(clock).GetNodes(t.Context(), row(), "fl-day-ah1-x", Lease{Token: token})
	if want := []time.Duration{time.Second, 2 * time.Second}; err == nil || !slices.Equal(clock.slept, want) {
		t.Errorf("paused %v, want %v; %v", clock.slept, want, err)
	}
	for i, r := range s.ran {
		if want := begin.Add(2 * time.Minute); i == 0 && !r.Deadline.Equal(want) || r.Attempt != i+1 {
			t.Errorf("attempt %d: %+v", i+1, r)
		}
	}
	if got := (Limit{Backoff: time.Minute}).backoff(50); got != maxBackoff {
		t.Errorf("the 50th pause is %s", got)
	}
}

// A deleted deployment must be absent from discover.
func TestTeardownIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		finds  int // how often it is still found
		fails  bool
		want   string
		tornUp int
	}{
		{"deleted", 0, false, "", 1},
		{"gone the second time", 1, false, "", 2},
		{"never gone", 9, false, "discover still lists it", 3},
		{"unknown", 0, true, "exit status 1: no rights", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			left, torn := tt.finds, 0
			s := &script{t: t}
			s.play = func(r Request) (Output, error) {
				if r.Verb == Teardown {
					torn++
					return done(t, Teardown), nil
				}
				if tt.fails {
					return Output{Status: 1, Log: []string{"no rights"}}, nil
				}
				all := []Deployment{}
				if left > 0 {
					all = append(all, provisioned())
				}
				left--
				return Output{Response: []byte(text(t, Response{APIVersion: APIVersion, Deployments: &all}))}, nil
			}
			err := s.client(&fakeClock{}).Teardown(t.Context(), row(), "fl-day-ah1-x", Lease{Token: token})
			if torn != tt.tornUp || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("torn down %d times, want %d: %v, want %s", torn, tt.tornUp, err, tt.want)
			}
		})
	}
}

func TestWhatNeedsALease(t *testing.T) {
	t.Parallel()
	s := &script{t: t, play: func(r Request) (Output, error) { return done(t, r.Verb), nil }}
	c := s.client(&fakeClock{})
	if _, err := c.Discover(t.Context(), config.AWS, nil, Lease{}); err != nil {
		t.Errorf("discover without a lease: %v", err)
	}
	if _, err := c.Provision(t.Context(), row(), config.Training, "fl-day-ah1-x", Lease{}); err == nil {
		t.Error("provisioned without a lease")
	}
	if err := c.Teardown(t.Context(), row(), "fl-day-ah1-x", Lease{}); err == nil {
		t.Error("something was torn down without a lease")
	}
	if _, err := c.Test(t.Context(), row(), "main", config.Training, "fl-day-ah1-x", Lease{}); err == nil {
		t.Error("something was tested without a lease")
	}
	if len(s.ran) != 1 || s.checked != 0 {
		t.Errorf("ran %d, checked %d", len(s.ran), s.checked)
	}
	if _, err := c.Discover(t.Context(), config.GCP, nil, Lease{}); !errors.Is(err, ErrNoHook) {
		t.Errorf("a cloud without a hook: %v", err)
	}
}

// A failed test is a result and is not retried; a missing result is an error.
func TestATest(t *testing.T) {
	t.Parallel()
	failed := Result{Verdict: Failed, Checks: 2, Reason: "0/2 nodes are available"}
	for _, tt := range []struct {
		name   string
		answer Result
		want   string
	}{
		{"passed", *answered(Test).Result, ""},
		{"failed", failed, ""},
		{"a pass of nothing", Result{Verdict: Passed}, "a pass has at least one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &script{t: t, play: func(Request) (Output, error) {
				return Output{Response: []byte(text(t, Response{APIVersion: APIVersion, Result: &tt.answer}))}, nil
			}}
			got, err := s.client(&fakeClock{}).Test(t.Context(), row(), "v1.2.0", config.Inference, "fl-n-ah1-x", Lease{Token: token})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %+v, %v, want %s", got, err, tt.want)
				}
				return
			}
			if diff := cmp.Diff(tt.answer, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			if len(s.ran) != 1 || s.checked != 1 || s.ran[0].Version != "v1.2.0" || s.ran[0].Intent != config.Inference || s.ran[0].Deployment != "fl-n-ah1-x" {
				t.Errorf("checked %d times, asked for %+v", s.checked, s.ran)
			}
		})
	}
}

func TestTheCallerEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	lost := errors.New("lease lost")
	s := &script{t: t}
	s.play = func(Request) (Output, error) { cancel(lost); return Output{}, ErrTemporary }
	_, err := s.client(&fakeClock{}).Provision(ctx, row(), config.Training, "fl-day-ah1-x", Lease{Token: token})
	if !errors.Is(err, lost) || len(s.ran) != 1 {
		t.Errorf("ran %d times: %v", len(s.ran), err)
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	varied := map[time.Duration]bool{}
	for range 100 {
		d := addJitter(time.Minute)
		if d < time.Minute || d > 90*time.Second {
			t.Fatalf("the backoff is %s, want 1m to 1m30s", d)
		}
		varied[d] = true
	}
	if len(varied) < 2 {
		t.Error("all backoffs are equal")
	}
}
