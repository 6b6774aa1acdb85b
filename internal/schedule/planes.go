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

// Arena puts cells on a control plane.
type Arena interface {
	// Run puts a cell there and returns what came of it when it is at rest. It may
	// be called from many goroutines.
	Run(ctx context.Context, c scenario.Scenario, progress func(string)) (snapshot.State, error)
}

// Plane is a control plane to put cells on.
type Plane struct {
	Arena Arena
	// Close throws it away.
	Close func(ctx context.Context) error
}

// OpenPlane starts a control plane; tell says how far it is.
type OpenPlane func(ctx context.Context, tell func(string)) (Plane, error)

// planes gives each shard of recipes a control plane of its own, so that what one
// holds stays bounded: started when the shard's first recipe asks, thrown away
// when its last one is done.
type planes struct {
	open  OpenPlane
	clock func() time.Time

	mu     sync.Mutex
	shards map[int]*shard
	took   time.Duration
	errs   []error
}

type shard struct {
	left   int
	opened chan struct{} // closed when plane or err is set
	begun  bool
	plane  Plane
	err    error
}

func newPlanes(open OpenPlane, sizes []int, clock func() time.Time) *planes {
	if clock == nil {
		clock = time.Now
	}
	p := &planes{open: open, clock: clock, shards: map[int]*shard{}}
	for i, n := range sizes {
		p.shards[i] = &shard{left: n, opened: make(chan struct{})}
	}
	return p
}

// shardSizes deals n recipes out to control planes.
func shardSizes(n, per int) []int {
	var out []int
	for ; n > 0; n -= per {
		out = append(out, min(n, per))
	}
	return out
}

// arena is that of a shard; whoever asks first starts it, the others wait.
func (p *planes) arena(ctx context.Context, i int, tell func(string)) (Arena, error) {
	p.mu.Lock()
	s := p.shards[i]
	first := !s.begun
	s.begun = true
	p.mu.Unlock()
	if first {
		begin := p.clock()
		s.plane, s.err = p.open(ctx, tell)
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
	return s.plane.Arena, nil
}

// starting is how long the starts of control planes took together.
func (p *planes) starting() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took
}

// done says that one recipe of a shard needs it no more.
func (p *planes) done(ctx context.Context, i int) {
	p.mu.Lock()
	s := p.shards[i]
	s.left--
	last := s.left == 0
	p.mu.Unlock()
	if last {
		p.close(ctx, s)
	}
}

// closeAll throws away what a walk that was ended early left.
func (p *planes) closeAll(ctx context.Context) error {
	for _, s := range p.shards {
		p.close(ctx, s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.errs...)
}

func (p *planes) close(ctx context.Context, s *shard) {
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
		p.errs = append(p.errs, fmt.Errorf("throw the control plane away: %w", err))
		p.mu.Unlock()
	}
}
