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
	// healthTimeout is what one look at /health may take.
	healthTimeout = 10 * time.Second
	// firstPause and longestPause lie between two looks.
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

var (
	// errCrashed says that the server's container ended.
	errCrashed = errors.New("the server's container ended")
	// errBlind says that the cluster does not tell any more how the server is.
	errBlind = errors.New("the server's pod can't be watched")
)

// connection is a way to a healthy server.
type connection struct {
	client *vllm.Client
	close  func()
}

// connect waits until the server answers /health with 200. It gives up when
// the container ends, can't be started, or ctx is over.
func (g *Gate) connect(ctx context.Context, s server) (*connection, error) {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		crashed, why := s.ended(watching)
		if crashed {
			ended <- fmt.Errorf("%w: %w", errCrashed, why)
			return
		}
		ended <- fmt.Errorf("%w: %w", errBlind, why)
	}()
	defer func() {
		stop()
		for range ended { // until the watching has ended
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
		case why := <-ended:
			timer.Stop()
			if ctx.Err() == nil {
				return nil, why
			}
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			pause = min(2*pause, longestPause)
			continue
		}
		return nil, fmt.Errorf("%w; the last look at /health: %w", ctx.Err(), err)
	}
}

// try looks once, over a way of its own: one that led nowhere is of no more use.
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
