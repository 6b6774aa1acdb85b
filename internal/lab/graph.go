package lab

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// step is one thing to do at start, after others.
type step struct {
	name  string
	needs []string
	run   func(ctx context.Context) error
}

// runSteps does every step as soon as what it needs is done. The first error
// ends all; a need that is no step is an error before anything runs.
func runSteps(ctx context.Context, steps []step) error {
	done := make(map[string]chan struct{}, len(steps))
	for _, s := range steps {
		done[s.name] = make(chan struct{})
	}
	for _, s := range steps {
		for _, n := range s.needs {
			if done[n] == nil {
				return fmt.Errorf("step %s needs %s, which is no step", s.name, n)
			}
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, s := range steps {
		group.Go(func() error {
			for _, n := range s.needs {
				select {
				case <-done[n]:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			if err := s.run(ctx); err != nil {
				return err
			}
			close(done[s.name])
			return nil
		})
	}
	return group.Wait()
}
