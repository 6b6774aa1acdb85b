package recipe

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/runner"
	"github.com/firstlight/firstlight/internal/upstream"
)

// openPlane starts a control plane that ends with this process, and shows how far it is.
func openPlane(ctx context.Context, board *display.Board) (schedule.ControlPlane, error) {
	show := func(e lab.Event) { showLabEvent(board, e) }
	l, end, err := lab.StartThrowaway(ctx, lab.Options{
		Programs: func(ctx context.Context, names []string) (upstream.Programs, error) {
			return buildPrograms(ctx, names, show)
		},
		Events: show,
	})
	if err != nil {
		return schedule.ControlPlane{}, err //nolint:wrapcheck // says what it was doing
	}
	a, err := runner.Start(ctx, l.RestConfig(), runner.Options{})
	if err != nil {
		return schedule.ControlPlane{}, errors.Join(err, end(context.WithoutCancel(ctx)))
	}
	return schedule.ControlPlane{Runner: a, Close: func(ctx context.Context) error {
		a.Close()
		return end(ctx)
	}}, nil
}
