package schedule

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Runner runs scenarios on a control plane.
type Runner interface {
	// Run applies a scenario and returns its snapshot once it has converged. It is safe for
	// concurrent use.
	Run(ctx context.Context, c scenario.Scenario, progress func(string)) (snapshot.State, error)
}

// ControlPlane is a control plane for scenarios.
type ControlPlane struct {
	Runner Runner
	// Close stops and deletes it.
	Close func(ctx context.Context) error
}

// StartControlPlane starts a control plane and reports its progress.
type StartControlPlane func(ctx context.Context, progress func(string)) (ControlPlane, error)

// controlPlanes has one control plane for each shard of recipes, which bounds its size. It
// starts with the shard's first recipe and is closed after the last one.
type controlPlanes struct {
	open  StartControlPlane
	clock func() time.Time

	mu     sync.Mutex
	shards map[int]*shard
	took   time.Duration
	errs   []error
}

type shard struct {
	left   int
	opened chan struct{} // closed once plane or err is set
	begun  bool
	plane  ControlPlane
	err    error
}

func newControlPlanes(open StartControlPlane, sizes []int, clock func() time.Time) *controlPlanes {
	if clock == nil {
		clock = time.Now
	}
	p := &controlPlanes{open: open, clock: clock, shards: map[int]*shard{}}
	for i, n := range sizes {
		p.shards[i] = &shard{left: n, opened: make(chan struct{})}
	}
	return p
}

// shardSizes splits n recipes into shards of at most per.
func shardSizes(n, per int) []int {
	var out []int
	for ; n > 0; n -= per {
		out = append(out, min(n, per))
	}
	return out
}

// runner returns the runner of a shard. The first call starts the control plane, others
// wait for it.
func (p *controlPlanes) runner(ctx context.Context, i int, progress func(string)) (Runner, error) {
	p.mu.Lock()
	s := p.shards[i]
	first := !s.begun
	s.begun = true
	p.mu.Unlock()
	if first {
		begin := p.clock()
		s.plane, s.err = p.open(ctx, progress)
		p.mu.Lock()
		p.took += p.clock().Sub(begin)
		p.mu.Unlock()
		close(s.opened)
	}
	select {
	case <-s.opened:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the control plane: %w", context.Cause(ctx))
	}
	if s.err != nil {
		return nil, fmt.Errorf("start a control plane: %w", s.err)
	}
	return s.plane.Runner, nil
}

// starting is the total start time of the control planes.
func (p *controlPlanes) starting() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took
}

// done releases a shard's control plane for one recipe.
func (p *controlPlanes) done(ctx context.Context, i int) {
	p.mu.Lock()
	s := p.shards[i]
	s.left--
	last := s.left == 0
	p.mu.Unlock()
	if last {
		p.close(ctx, s)
	}
}

// closeAll closes the control planes that an interrupted run left.
func (p *controlPlanes) closeAll(ctx context.Context) error {
	for _, s := range p.shards {
		p.close(ctx, s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

func (p *controlPlanes) close(ctx context.Context, s *shard) {
	p.mu.Lock()
	plane := s.plane
	if !s.begun || plane.Close == nil {
		p.mu.Unlock()
		return
	}
	s.plane.Close = nil
	p.mu.Unlock()
	if err := plane.Close(ctx); err != nil {
		p.mu.Lock()
		p.errs = append(p.errs, fmt.Errorf("close the control plane: %w", err))
		p.mu.Unlock()
	}
}
