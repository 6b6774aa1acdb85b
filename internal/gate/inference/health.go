package inference

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

const (
	// healthTimeout is the timeout of one request to /health.
	healthTimeout = 10 * time.Second
	// The polling interval grows from firstPause to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

var (
	// errCrashed: the server's container terminated.
	errCrashed = errors.New("the server's container terminated")
	// errUnwatched: the state of the server's pod is unknown.
	errUnwatched = errors.New("cannot watch the server's pod")
)

// connection is a connection to a healthy server.
type connection struct {
	client *vllm.Client
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
		return nil, err
	}
	transport := &http.Transport{
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
	return c, nil
}
