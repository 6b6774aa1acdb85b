package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// Streamer makes one streamed request.
type Streamer func(context.Context, vllm.Request) (vllm.Stream, error)

// Intervals and limits of requests to /health.
const (
	reachInterval = 500 * time.Millisecond
	reachTimeout  = 5 * time.Second
)

// Run loads a server by the plan, for at most its timeout, and reads the server's metrics before and
// after. The error is for a ctx that ended before the server was reached.
func Run(parent context.Context, p Plan, client *vllm.Client) (Figures, error) {
	ctx, cancel := context.WithTimeout(parent, seconds(p.TimeoutSeconds))
	defer cancel()
	if err := reach(ctx, p, client); err != nil {
		f := p.figures()
		if parent.Err() != nil {
			return f, fmt.Errorf("reach the server: %w", parent.Err())
		}
		f.Unreached = err.Error()
		return f, nil
	}
	before, _ := client.Metrics(ctx)
	f := Send(ctx, p, client.Stream)
	after, _ := client.Metrics(ctx)
	f.addMetrics(before, after)
	return f, nil
}

// reach waits until /health answers 200.
func reach(ctx context.Context, p Plan, client *vllm.Client) error {
	if p.ReachSeconds == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(p.ReachSeconds))
	defer cancel()
	return poll.Until(ctx, reachInterval, "GET "+p.URL+"/health", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		return client.Health(ctx)
	})
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// figures are those of a load that was not sent.
func (p Plan) figures() Figures {
	return Figures{
		RatePerSecond: p.RatePerSecond, Concurrency: p.Concurrency, Asked: p.Requests, Warmup: p.Warmup,
		InputTokens: p.InputTokens, OutputTokens: p.OutputTokens, Requests: []Request{},
	}
}

// Send sends the requests at the plan's rate, independently of the answers: first the warm-up, then
// the measured ones.
func Send(ctx context.Context, p Plan, stream Streamer) Figures {
	f := p.figures()
	f.WarmupRequests, _, _ = p.send(ctx, stream, p.Warmup, "warm-up")
	var gaps []time.Duration
	var took time.Duration
	stalled := watchStalls(ctx)
	f.Requests, gaps, took = p.send(ctx, stream, p.Requests, "request")
	f.ClientStall = Milliseconds(stalled())
	f.Seconds = took.Seconds()
	f.ITL = PercentilesOf(milliseconds(gaps))
	return f
}

// send sends n requests and waits for the last answer.
func (p Plan) send(ctx context.Context, stream Streamer, n int, what string) ([]Request, []time.Duration, time.Duration) {
	results := make([]Request, n)
	gaps := make([][]time.Duration, n)
	limit := p.Concurrency
	if limit == 0 {
		limit = n
	}
	slots := make(chan struct{}, max(1, limit))
	begin := time.Now()
	var running sync.WaitGroup
	sent := 0
	for i := range n {
		due := seconds(float64(i) / p.RatePerSecond)
		results[i] = Request{Due: Milliseconds(due)}
		if !waitUntil(ctx, begin.Add(due), slots) {
			break
		}
		sent++
		running.Go(func() {
			defer func() { <-slots }()
			gaps[i] = results[i].measure(ctx, stream, begin, p.request(what, i))
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
func (r *Request) measure(ctx context.Context, stream Streamer, begin time.Time, req vllm.Request) []time.Duration {
	r.Sent = Milliseconds(time.Since(begin))
	s, err := stream(ctx, req)
	if err != nil {
		r.Error, r.TimedOut, r.Lost = err.Error(), TimedOut(ctx, err), Lost(err)
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
	ttft, e2e := Milliseconds(s.First), Milliseconds(s.Last)
	r.TTFT, r.E2E = &ttft, &e2e
	if s.Tokens > 1 {
		tpot := Milliseconds(s.TPOT())
		r.TPOT = &tpot
	}
	return s.Gaps
}

// ErrUnreached is in the error of a connection that was not opened for a reason that says nothing of the server.
var ErrUnreached = errors.New("cannot reach the server")

// Lost reports whether a request ended with the SSH connection to the server's host, or could not be sent over it.
func Lost(err error) bool { return errors.Is(err, ssh.ErrLost) || errors.Is(err, ErrUnreached) }

// TimedOut reports whether a request ended because the load generator's own time was over.
func TimedOut(ctx context.Context, err error) bool {
	var limit interface{ Timeout() bool }
	return err != nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &limit) && limit.Timeout())
}
