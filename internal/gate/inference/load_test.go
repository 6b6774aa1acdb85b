package inference

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

func TestLoadKeepsRateAndConcurrency(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Rate, s.Workloads.Inference.Requests, s.Workloads.Inference.Concurrency = 100, 20, 3
	v := &fakeVLLM{prefill: 50 * time.Millisecond}
	j, obs := observeAndJudge(t, testGate(t, s), v)
	if most := v.most.Load(); most > 3 {
		t.Errorf("%d at a time: %s", most, j.Reason)
	}
	if v.asked.Load() != 24 {
		t.Errorf("%d streams, want 4 to warm up and 20", v.asked.Load())
	}
	if len(obs) != 5 {
		t.Fatalf("%d observations", len(obs))
	}
}

func TestLoadIsNotFasterThanItsRate(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Rate, s.Workloads.Inference.Requests, s.Workloads.Inference.Warmup = 50, 10, 0
	f := testGate(t, s).load(t.Context(), func(context.Context, vllm.Request) (vllm.Stream, error) {
		return vllm.Stream{Tokens: 1, First: 1, Last: 1}, nil
	})
	for i, q := range f.Requests {
		if q.Due != float64(i)*20 || q.Sent < q.Due {
			t.Errorf("request %d due at %v was sent at %v", i, q.Due, q.Sent)
		}
	}
}

// TestTokensInOnePieceAreNotMeasured: an answer that comes all at once, through
// a proxy that keeps it back, has no time between its tokens, which is not 0.
func TestTokensInOnePieceAreNotMeasured(t *testing.T) {
	t.Parallel()
	var r Request
	r.measure(t.Context(), func(context.Context, vllm.Request) (vllm.Stream, error) {
		return vllm.Stream{Tokens: 64, FromUsage: true, First: time.Second, Last: time.Second}, nil
	}, time.Now(), vllm.Request{})
	if r.TPOT != nil || !strings.Contains(r.Error, "64 tokens in one piece") {
		t.Errorf("%+v", r)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Workloads.Inference.Rate = 1
	ctx, cancel := context.WithCancel(t.Context())
	f := testGate(t, s).load(ctx, func(ctx context.Context, _ vllm.Request) (vllm.Stream, error) {
		cancel()
		return vllm.Stream{}, ctx.Err()
	})
	if len(f.Requests)+len(f.WarmupRequests) >= 24 {
		t.Errorf("all were sent")
	}
}

func TestConnectToNobody(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := g.connect(ctx, &fakeVLLM{url: deadServer(t)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestObserveInterrupted(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	ctx, cancel := context.WithCancel(t.Context())
	v := &fakeVLLM{url: deadServer(t)}
	g.start = func(context.Context) (server, error) { cancel(); return v, nil }
	if err := g.Observe(ctx, &recorder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !v.removed.Load() {
		t.Error("the server was left behind")
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	spec := g.spec()
	if spec.Pods != 1 || spec.GPUs != 1 || spec.Env["MODEL"] != testModel || spec.Env["MAX_MODEL_LEN"] != "8192" || spec.Env["TP"] != "1" ||
		len(spec.Ports) != 1 || spec.Ports[0] != 8000 || !strings.Contains(spec.Script, "vllm serve") {
		t.Errorf("%+v", spec)
	}
	if g.Claims() != 1 || g.Name() != "inference" || len(g.Describe()) == 0 {
		t.Error(g.Claims(), g.Name(), g.Describe())
	}
	if r := g.request("request", 3); len(strings.Fields(r.Prompt)) != 16 || r.Prompt == g.request("request", 4).Prompt {
		t.Errorf("prompt %q", r.Prompt)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), bash, "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
