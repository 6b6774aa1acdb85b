package schedule

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// counted opens planes and counts what happens to them.
type counted struct {
	mu             sync.Mutex
	opened, closed int
	openErr        error
	closeErr       error
}

func (c *counted) open(context.Context, func(string)) (ControlPlane, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openErr != nil {
		return ControlPlane{}, c.openErr
	}
	c.opened++
	return ControlPlane{Close: func(context.Context) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.closed++
		return c.closeErr
	}}, nil
}

func TestEachShardHasOnePlaneUntilItsLastRecipe(t *testing.T) {
	t.Parallel()
	c := &counted{}
	p := newControlPlanes(c.open, shardSizes(5, 2), time.Now)
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			if _, err := p.runner(t.Context(), i/2, func(string) {}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c.opened != 3 {
		t.Errorf("%d planes were opened for 5 recipes, 2 a plane", c.opened)
	}
	p.done(t.Context(), 0)
	if c.closed != 0 {
		t.Error("a plane is closed while a recipe is on it")
	}
	p.done(t.Context(), 0)
	if c.closed != 1 {
		t.Errorf("%d planes closed after the last recipe of the first", c.closed)
	}
	p.done(t.Context(), 1)
	if err := p.closeAll(t.Context()); err != nil {
		t.Error(err)
	}
	if c.closed != 3 {
		t.Errorf("%d of 3 planes closed at the end", c.closed)
	}
}

func TestAPlaneThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	why := errors.New("no port left")
	c := &counted{openErr: why}
	p := newControlPlanes(c.open, shardSizes(2, 2), time.Now)
	for range 2 { // both recipes get the error
		if _, err := p.runner(t.Context(), 0, func(string) {}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	}
	if err := p.closeAll(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAControlPlaneThatDoesNotStopIsReported(t *testing.T) {
	t.Parallel()
	why := errors.New("etcd hangs")
	c := &counted{closeErr: why}
	p := newControlPlanes(c.open, shardSizes(1, 1), time.Now)
	if _, err := p.runner(t.Context(), 0, func(string) {}); err != nil {
		t.Fatal(err)
	}
	p.done(t.Context(), 0)
	if err := p.closeAll(t.Context()); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
