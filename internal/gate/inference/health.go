package inference

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

const (
	// healthTimeout is the timeout of one request to /health.
	healthTimeout = 10 * time.Second
	// healthWithin limits all requests to /health after the load, endedWithin the wait for the end of a server
	// without an answer.
	healthWithin = 30 * time.Second
	endedWithin  = time.Minute
	// The polling interval grows from firstPause to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

var (
	// errCrashed: the server's container or job terminated.
	errCrashed = errors.New("the server terminated")
	// errUnwatched: the state of the server's pod or job is unknown.
	errUnwatched = errors.New("cannot watch the server")
	// errUnreached: no port forward could be opened, or nothing connected over it, so the server was not asked.
	errUnreached = load.ErrUnreached
)

// connection is a connection to a healthy server.
type connection struct {
	client *vllm.Client
	// served are the names that a server lists which must list its own.
	served []string
	close  func()
}

// connect waits until the server answers /health with 200. It fails if the container terminates
// or cannot start, or ctx ends.
func (g *Gate) connect(ctx context.Context, s server) (*connection, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		crashed, reason := s.ended(watching)
		if crashed {
			ended <- fmt.Errorf("%w: %w", errCrashed, reason)
			return
		}
		ended <- fmt.Errorf("%w: %w", errUnwatched, reason)
	}()
	defer func() {
		stop()
		for range ended { // until the watch has ended
		}
	}()
	pause := firstPause
	for {
		c, err := g.try(ctx, s)
		if err == nil {
			return c, nil
		}
		timer := time.NewTimer(pause)
		select {
		case reason := <-ended:
			timer.Stop()
			if ctx.Err() == nil {
				return nil, reason
			}
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			pause = min(2*pause, longestPause)
			continue
		}
		return nil, fmt.Errorf("%w; last request to /health: %w", ctx.Err(), err)
	}
}

// try sends one request over a new port forward, since a failed one cannot be reused.
func (g *Gate) try(ctx context.Context, s server) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	addr, stop, err := s.forward(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreached, err)
	}
	transport := &http.Transport{
		DialContext:         g.dial,
		MaxIdleConnsPerHost: g.site.Workloads.Inference.Concurrency + 1,
		DisableCompression:  true,
	}
	c := &connection{
		client: &vllm.Client{Base: "http://" + addr, HTTP: origin.Forwarded(transport), Now: time.Now},
		close:  func() { transport.CloseIdleConnections(); stop() },
	}
	if err := c.client.Health(ctx); err != nil {
		c.close()
		return nil, err
	}
	if err := c.identify(ctx, s.served()); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// identify requires that the server lists its own name.
func (c *connection) identify(ctx context.Context, own string) error {
	if own == "" {
		return nil
	}
	var err error
	if c.served, _, err = c.client.Models(ctx); err != nil {
		return fmt.Errorf("identify the server: %w", err)
	}
	if !slices.Contains(c.served, own) {
		return fmt.Errorf("another server answers on its port: it serves %s, and not %s", orNone(c.served), own)
	}
	return nil
}

// life watches a healthy server until its end.
type life struct {
	cancel context.CancelFunc
	ended  chan struct{}
	// crashed and reason are set once ended is closed.
	crashed bool
	reason  error
}

func follow(ctx context.Context, s server) *life {
	ctx, cancel := context.WithCancel(ctx)
	l := &life{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		l.crashed, l.reason = s.ended(ctx)
	}()
	return l
}

func (l *life) stop() {
	l.cancel()
	<-l.ended
}

// healthAfter observes the server's health after the load. A server that has ended is not healthy, whatever answers
// in its place; one that does not answer has a moment to end.
func (g *Gate) healthAfter(ctx context.Context, s server, life *life, f *ServerFigures) {
	if silent := g.askAfter(ctx, s, f); silent {
		timer := time.NewTimer(g.endsWithin())
		defer timer.Stop()
		select {
		case <-life.ended:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	select {
	case <-life.ended:
		switch {
		case life.crashed:
			f.Healthy, f.Crashed, f.Problem = false, true, life.reason.Error()
		case f.Job != "":
			f.Withdrawn = life.reason.Error()
		}
	default:
	}
}

// endsWithin is how long a server without an answer may take to end: that of Slurm has an epilog.
func (g *Gate) endsWithin() time.Duration { return max(endedWithin, g.queue) }

// askAfter requests /health. A request without an answer is repeated, since a port forward may fail; silent: the last
// one had none.
func (g *Gate) askAfter(ctx context.Context, s server, f *ServerFigures) (silent bool) {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	for {
		c, err := g.try(ctx, s)
		if err == nil {
			c.close()
			f.Served, f.Healthy, f.Unreached, f.Problem = c.served, true, false, ""
			return false
		}
		if ctx.Err() == nil || f.Problem == "" {
			f.Problem = err.Error()
			// That nothing listens is an answer of the node.
			f.Unreached = !errors.Is(err, ssh.ErrNotConnected)
		}
		if _, answered := errors.AsType[*vllm.StatusError](err); answered {
			f.Unreached = false
			return false
		}
		if poll.Sleep(ctx, firstPause) != nil {
			return true
		}
	}
}

// answered separates the failure of a request from a time-out of our own and from a lost SSH connection, which
// show nothing of the server.
func answered(ctx context.Context, err error) (failure string, unobserved error) {
	if err == nil || load.TimedOut(ctx, err) || load.Lost(err) {
		return "", err
	}
	return err.Error(), nil
}
