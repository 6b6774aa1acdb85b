package inference

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// streamer makes one streamed request.
type streamer func(context.Context, vllm.Request) (vllm.Stream, error)

// loadAndMetrics loads the server and reads from its metrics the wait in its queue and how late
// its steps were. Each is nil for a server without such a metric.
func (g *Gate) loadAndMetrics(ctx context.Context, client *vllm.Client) LoadFigures {
	before, _ := client.Metrics(ctx)
	f := g.load(ctx, client.Stream)
	after, _ := client.Metrics(ctx)
	f.Queue = queueOf(before, after)
	f.ServerTTFT, f.ServerITL = p99Of(before, after, ttftMetric), p99Of(before, after, itlMetric)
	if before, after := lateOf(before), lateOf(after); before != nil && after != nil {
		f.ServerLate = &ServerLate{Sum: after.Sum - before.Sum, Max: after.Max}
	}
	return f
}

// vLLM's histograms, in seconds: the wait before scheduling, the time from arrival to the first
// token, and between tokens.
const (
	queueTime  = "vllm:request_queue_time_seconds"
	ttftMetric = "vllm:time_to_first_token_seconds"
	itlMetric  = "vllm:inter_token_latency_seconds"
)

// queueOf is the mean wait in a server's queue between two snapshots of its metrics, in ms; nil
// if unknown.
func queueOf(before, after []byte) *float64 {
	h, ok := between(before, after, queueTime)
	if !ok {
		return nil
	}
	mean := h.Sum / h.Count * 1e3
	return &mean
}

// p99Of is the upper bound of 99 % of a histogram's values between two snapshots of the metrics,
// in ms; nil if unknown.
func p99Of(before, after []byte, name string) *float64 {
	h, _ := between(before, after, name)
	bound, ok := h.Within(0.99)
	if !ok {
		return nil
	}
	bound *= 1e3
	return &bound
}

// between is the difference of a histogram between two snapshots; false without new values.
func between(before, after []byte, name string) (prom.Histogram, bool) {
	b, errBefore := prom.ParseHistogram(before, name)
	a, errAfter := prom.ParseHistogram(after, name)
	if errBefore != nil || errAfter != nil || a.Count <= b.Count {
		return prom.Histogram{}, false
	}
	return a.Since(b), true
}

// load sends requests at a fixed rate, independently of the answers, with limited concurrency:
// first the warm-up, then the measured requests.
func (g *Gate) load(ctx context.Context, stream streamer) LoadFigures {
	w := g.site.Workloads.Inference
	f := LoadFigures{
		RatePerSecond: w.Rate, Concurrency: w.Concurrency, Asked: w.Requests, Warmup: w.Warmup,
		InputTokens: w.InputTokens, OutputTokens: w.OutputTokens,
	}
	f.WarmupRequests, _, _ = g.send(ctx, stream, w.Warmup, "warm-up")
	var gaps []time.Duration
	var took time.Duration
	stalled := watchStalls(ctx)
	f.Requests, gaps, took = g.send(ctx, stream, w.Requests, "request")
	f.ClientStall = ms(stalled())
	f.Seconds = took.Seconds()
	f.ITL = percentilesOf(milliseconds(gaps))
	return f
}

// send sends n requests and waits for the last answer.
func (g *Gate) send(ctx context.Context, stream streamer, n int, what string) ([]Request, []time.Duration, time.Duration) {
	w := g.site.Workloads.Inference
	results := make([]Request, n)
	gaps := make([][]time.Duration, n)
	slots := make(chan struct{}, max(1, w.Concurrency))
	begin := time.Now()
	var running sync.WaitGroup
	sent := 0
	for i := range n {
		due := time.Duration(float64(i) / w.Rate * float64(time.Second))
		results[i] = Request{Due: ms(due)}
		if !waitUntil(ctx, begin.Add(due), slots) {
			break
		}
		sent++
		running.Go(func() {
			defer func() { <-slots }()
			gaps[i] = results[i].measure(ctx, stream, begin, g.request(what, i))
		})
	}
	running.Wait()
	return results[:sent], slices.Concat(gaps...), time.Since(begin)
}

// waitUntil waits for the time and for a free slot; false if ctx ends first.
func waitUntil(ctx context.Context, at time.Time, slots chan<- struct{}) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// measure sends the request; it returns the gaps between pieces.
func (r *Request) measure(ctx context.Context, stream streamer, begin time.Time, req vllm.Request) []time.Duration {
	r.Sent = ms(time.Since(begin))
	s, err := stream(ctx, req)
	if err != nil {
		r.Error, r.TimedOut = err.Error(), timedOut(ctx, err)
		return nil
	}
	r.Tokens, r.FromUsage = s.Tokens, s.FromUsage
	if s.Tokens == 0 {
		return nil
	}
	if s.Tokens > 1 && len(s.Gaps) == 0 {
		r.Error = fmt.Sprintf("%d tokens in one piece: the time between them cannot be measured (does a proxy buffer the stream?)", s.Tokens)
		return nil
	}
	ttft, e2e := ms(s.First), ms(s.Last)
	r.TTFT, r.E2E = &ttft, &e2e
	if s.Tokens > 1 {
		tpot := ms(s.TPOT())
		r.TPOT = &tpot
	}
	return s.Gaps
}

// request has a unique prompt, so that no cache answers it.
func (g *Gate) request(what string, n int) vllm.Request {
	w := g.site.Workloads.Inference
	words := []string{what, fmt.Sprint(n)}
	filler := strings.Fields(w.Prompt)
	for i := 0; len(words) < w.InputTokens && len(filler) > 0; i++ {
		words = append(words, filler[(i+n)%len(filler)])
	}
	return vllm.Request{Model: w.Model, Prompt: strings.Join(words, " "), MaxTokens: w.OutputTokens, IgnoreEOS: true}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func milliseconds(ds []time.Duration) []float64 {
	out := make([]float64, 0, len(ds))
	for _, d := range ds {
		out = append(out, ms(d))
	}
	return out
}
