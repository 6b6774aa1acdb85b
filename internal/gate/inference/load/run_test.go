package load

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/probe/vllm"
)

func TestLoadIsNotFasterThanItsRate(t *testing.T) {
	t.Parallel()
	p := plan()
	p.RatePerSecond, p.Requests, p.Warmup = 50, 10, 0
	f := Send(t.Context(), p, func(context.Context, vllm.Request) (vllm.Stream, error) {
		return vllm.Stream{Tokens: 1, First: 1, Last: 1}, nil
	})
	for i, q := range f.Requests {
		if q.Due != float64(i)*20 || q.Sent < q.Due {
			t.Errorf("request %d due at %v was sent at %v", i, q.Due, q.Sent)
		}
	}
}

// An open loop sends in time, however slow the answers are; with a limit, requests wait for answers.
func TestOpenLoop(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		concurrency int
		late        bool
	}{"open": {0, false}, "limited": {2, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := plan()
				p.Requests, p.Concurrency = 20, tt.concurrency
				f := Send(t.Context(), p, func(context.Context, vllm.Request) (vllm.Stream, error) {
					<-time.After(5 * time.Second) // simulated time
					return vllm.Stream{Tokens: 1, First: 1, Last: 1}, nil
				})
				if last := f.Requests[19]; (last.Sent-last.Due > 1) != tt.late {
					t.Errorf("due at %v, sent at %v", last.Due, last.Sent)
				}
			})
		})
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
	p := plan()
	p.RatePerSecond = 1
	ctx, cancel := context.WithCancel(t.Context())
	f := Send(ctx, p, func(ctx context.Context, _ vllm.Request) (vllm.Stream, error) {
		cancel()
		return vllm.Stream{}, ctx.Err()
	})
	if len(f.Requests)+len(f.WarmupRequests) >= 4 {
		t.Errorf("all were sent")
	}
}

func TestPromptsAreUnique(t *testing.T) {
	t.Parallel()
	p := plan()
	if r := p.request("request", 3); len(strings.Fields(r.Prompt)) != 8 || r.Prompt == p.request("request", 4).Prompt {
		t.Errorf("prompt %q", r.Prompt)
	}
}

// A server that the load generator does not reach gets no request, and the result says why.
func TestUnreached(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.URL.Path != "/health" {
			t.Errorf("requested %s", r.URL.Path)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	p := plan()
	p.URL, p.ReachSeconds = server.URL, 0.7
	client := &vllm.Client{Base: server.URL, HTTP: server.Client(), Now: time.Now}
	f, err := Run(t.Context(), p, client)
	if err != nil || asked == 0 || !strings.Contains(f.Unreached, "503") || len(f.Requests) != 0 || f.Asked != 3 {
		t.Errorf("%d requests; %+v, %v", asked, f, err)
	}
	// A process that receives a signal to stop has not found that the server is unreachable.
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if f, err := Run(stopped, p, client); err == nil || f.Unreached != "" {
		t.Errorf("%+v, %v", f, err)
	}
}
