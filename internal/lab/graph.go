package lab

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// step is one action of a start; it runs after the steps that it needs.
type step struct {
	name  string
	needs []string
	run   func(ctx context.Context) error
}

// runSteps runs each step as soon as its needs are done and returns the first error. An unknown
// need is an error before any step runs.
func runSteps(ctx context.Context, steps []step) error {
	done := make(map[string]chan struct{}, len(steps))
	for _, s := range steps {
		done[s.name] = make(chan struct{})
	}
	for _, s := range steps {
		for _, n := range s.needs {
			if done[n] == nil {
				return fmt.Errorf("step %s needs %s, which is not a step", s.name, n)
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
