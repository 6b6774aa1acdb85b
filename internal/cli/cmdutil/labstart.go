package cmdutil

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/upstream"
)

// stepAll is the last step of a lab's start: all components and extras are ready.
const stepAll = ""

// labStart follows a lab's start for callers that need only a part of the lab.
type labStart struct {
	// reached has a channel for each step; done is closed at the end of the start.
	reached map[string]chan struct{}
	done    chan struct{}
	err     error // valid once done is closed
}

// followStart follows the lab's start and adds the extras. It passes each event to report.
func followStart(ctx context.Context, h *lab.Handle, extras []string, report func(lab.Event)) *labStart {
	s := &labStart{
		reached: map[string]chan struct{}{lab.StepHosts: make(chan struct{}), lab.StepCluster: make(chan struct{})},
		done:    make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		closed := map[string]bool{}
		s.err = h.WaitReady(ctx, func(e lab.Event) {
			report(e)
			if c := s.reached[e.Name]; e.Kind == lab.KindStep && c != nil && !closed[e.Name] {
				closed[e.Name] = true
				close(c)
			}
		})
		if s.err == nil {
			s.err = h.Ensure(ctx, extras, report)
		}
	}()
	return s
}

// wait waits until the lab's start has reached the step, or has ended for stepAll. A
// failure after the step is not an error.
func (s *labStart) wait(ctx context.Context, step string) error {
	reached := s.done
	if step != stepAll {
		reached = s.reached[step]
	}
	select {
	case <-reached:
	case <-s.done:
	case <-ctx.Done():
		return fmt.Errorf("wait for the lab: %w", context.Cause(ctx))
	}
	if step != stepAll {
		select {
		case <-reached:
			return nil
		default:
		}
	}
	return s.err
}

// BuildPrograms begins to build the missing programs and reports progress: a lab starts
// each program as soon as it is built.
func BuildPrograms(ctx context.Context, names []string, report func(lab.Event)) (upstream.Programs, error) {
	return upstream.Builder{}.Begin(ctx, names, func(e upstream.Event) {
		report(lab.Event{Kind: lab.KindBuild, Name: e.Program, Build: &e})
	})
}
