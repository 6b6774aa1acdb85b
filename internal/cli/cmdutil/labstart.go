package cmdutil

import (
	"context"
	"fmt"

	"github.com/firstlight/firstlight/internal/lab"
)

// wholeLab is the last stage of a lab's start: everything is up, extras too.
const wholeLab = ""

// labStart follows a lab that is coming up, for those who need only a part of it.
type labStart struct {
	// reached has a channel for each step that can be waited for; done is closed at the end.
	reached map[string]chan struct{}
	done    chan struct{}
	err     error // once done is closed
}

// followStart follows the lab's start and makes it have the extras. Each event is
// passed to tell.
func followStart(ctx context.Context, h *lab.Handle, extras []string, tell func(lab.Event)) *labStart {
	s := &labStart{
		reached: map[string]chan struct{}{lab.StepHosts: make(chan struct{}), lab.StepCluster: make(chan struct{})},
		done:    make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		reached := map[string]bool{}
		s.err = h.WaitReady(ctx, func(e lab.Event) {
			tell(e)
			if c := s.reached[e.Name]; e.Kind == lab.KindStep && c != nil && !reached[e.Name] {
				reached[e.Name] = true
				close(c)
			}
		})
		if s.err == nil {
			s.err = h.Ensure(ctx, extras, tell)
		}
	}()
	return s
}

// wait waits until the lab's start has reached the step, or all of it for wholeLab. A
// start that failed later than that is no error.
func (s *labStart) wait(ctx context.Context, step string) error {
	reached := s.done
	if step != wholeLab {
		reached = s.reached[step]
	}
	select {
	case <-reached:
	case <-s.done:
	case <-ctx.Done():
		return fmt.Errorf("wait for the lab: %w", context.Cause(ctx))
	}
	if step != wholeLab {
		select {
		case <-reached:
			return nil
		default:
		}
	}
	return s.err
}
