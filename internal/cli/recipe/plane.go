package recipe

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/runner"
	"github.com/firstlight/firstlight/internal/upstream"
)

// openPlane starts a temporary control plane and shows its progress.
func openPlane(ctx context.Context, board *display.Board) (schedule.ControlPlane, error) {
	show := cmdutil.LabProgress(board)
	l, end, err := lab.StartThrowaway(ctx, lab.Options{
		Programs: func(ctx context.Context, names []string) (upstream.Programs, error) {
			return cmdutil.BuildPrograms(ctx, names, show)
		},
		Events: show,
	})
	if err != nil {
		return schedule.ControlPlane{}, err
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
