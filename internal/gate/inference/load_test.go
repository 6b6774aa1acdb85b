package inference

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
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
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), bash, "-n", "-c", script).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
