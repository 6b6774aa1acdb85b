package plan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

func TestInterrupted(t *testing.T) {
	t.Parallel()
	for name, returns := range map[string]error{"with the context's error": context.Canceled, "as if nothing had happened": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			b := fakeCheck{name: "b", observe: func(ctx context.Context, rec check.Recorder) error {
				if err := see(rec, "thing"); err != nil {
					return err
				}
				cancel()
				<-ctx.Done()
				return returns
			}}
			store := newMemStore()
			var cleaned []string
			w := &Executor{
				Plan: linear(fakeCheck{name: "a"}, b, fakeCheck{name: "c"}), Store: store, Clock: fixedClock(),
				Cleanup: func(ctx context.Context, step string) error {
					if _, limited := ctx.Deadline(); ctx.Err() != nil || !limited {
						t.Errorf("cleaning up after %s with a context that has ended or never does", step)
					}
					cleaned = append(cleaned, step)
					return nil
				},
			}
			out, err := w.Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !out.Interrupted || out.Verdict != check.Unobserved {
				t.Errorf("outcome %+v", out)
			}
			if diff := cmp.Diff([]string{"b", "c"}, out.Pending); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "b"}, cleaned); diff != "" {
				t.Errorf("cleaned up (-want +got):\n%s", diff)
			}
			log := strings.Join(store.log, "\n")
			if strings.Contains(log, "passed b") || strings.Contains(log, "record error") || !strings.Contains(log, "record thing b") {
				t.Errorf("the store received:\n%s", log)
			}

			w.Earlier, cleaned = map[string]Result{"a": out.Results[0]}, nil
			w.Plan = linear(fakeCheck{name: "a"}, fakeCheck{name: "b"}, fakeCheck{name: "c"})
			again, err := w.Run(t.Context())
			if err != nil || again.Verdict != check.Passed {
				t.Fatalf("resumed: %+v, %v", again, err)
			}
			if diff := cmp.Diff([]string{"b", "c"}, cleaned); diff != "" {
				t.Errorf("cleaned up when resumed (-want +got):\n%s", diff)
			}
			if got := again.Results[1]; got.Attempt != 2 || !cmp.Equal(got.Observations, []string{"b-2-1"}) {
				t.Errorf("the second attempt judged %+v", got)
			}
		})
	}
}

func TestInterruptedBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := newMemStore()
	out, err := (&Executor{Plan: linear(fakeCheck{name: "a"}), Store: store}).Run(ctx)
	if err != nil || !out.Interrupted || len(store.log) != 0 {
		t.Errorf("outcome %+v, %v, %v", out, err, store.log)
	}
}

func TestInterruptedWhileAskingForCapacity(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := Plan{Name: "p", Steps: []Step{{Check: fakeCheck{name: "a"}, GPUs: 1}}}
	out, err := (&Executor{Plan: p, Store: newMemStore(), Capacity: func(ctx context.Context) (int, error) {
		cancel()
		<-ctx.Done()
		return 0, ctx.Err()
	}}).Run(ctx)
	if err != nil || !out.Interrupted || len(out.Notes) != 0 {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestFailedCleanupIsReported(t *testing.T) {
	t.Parallel()
	out, _ := runPlan(t, &Executor{
		Plan:           linear(fakeCheck{name: "a"}),
		CleanupTimeout: time.Hour,
		Cleanup:        func(context.Context, string) error { return errors.New("pod x is still there") },
	})
	if diff := cmp.Diff([]string{"clean up after a: pod x is still there"}, out.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if out.Verdict != check.Passed {
		t.Errorf("verdict %s", out.Verdict)
	}
}
