package reservation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var errNotDone = errors.New("its result is unknown")

const followInterval = time.Second

// follow requests a hand-over from the running controller and waits until it is finished.
func (f *runFlags) follow(ctx context.Context, r *running) (*store.HandOver, error) {
	spec, err := controller.ManualHandOver(r.schedule, f.once, defaultHolder(), r.clock.Now())
	if err != nil {
		return nil, err
	}
	h, err := r.store.EnsureHandOver(ctx, spec)
	if err != nil {
		return nil, err
	}
	err = poll.Until(ctx, followInterval, h.Name+", which the running controller executes", func(ctx context.Context) error {
		if h, err = r.store.EnsureHandOver(ctx, spec); err != nil {
			return poll.Stop(err)
		}
		if h.Status.Finished == nil {
			return errNotDone
		}
		return nil
	})
	return h, err
}

// show prints the result of a hand-over.
func (f *runFlags) show(s cmdutil.Streams, h *store.HandOver) error {
	err := f.out.Write(s.Out, h, func(w io.Writer) { printHandOver(w, h) })
	if err == nil && h.Status.Failed != "" {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return err
}

func printHandOver(w io.Writer, h *store.HandOver) {
	cell := func(version string, intent config.Intent, outcome, reason string) {
		fmt.Fprintf(w, "  %-24s %s\n", version+"/"+string(intent), withReason(outcome, reason))
	}
	for _, row := range h.Status.Rows {
		fmt.Fprintf(w, "%s: %s\n", row.Reservation, withReason(cmp.Or(row.Result, "-"), row.Reason))
		for _, c := range row.HeldBack {
			cell(c.Version, c.Intent, "below the floor", c.Reason)
		}
		for _, c := range row.Cells {
			cell(c.Version, c.Intent, string(c.Outcome), c.Reason)
		}
	}
	result := "done"
	if h.Status.Failed != "" {
		result = "failed"
	}
	fmt.Fprintf(w, "%s %s\n", h.Spec.Entry, result)
}

func withReason(outcome, reason string) string {
	if reason == "" {
		return outcome
	}
	return outcome + ": " + reason
}
