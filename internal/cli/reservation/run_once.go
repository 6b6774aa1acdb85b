package reservation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

var errNotDone = errors.New("nothing is known of its end")

// followEvery is how often a hand-over is looked at that another does.
const followEvery = time.Second

// follow begins a hand-over that the controller goes on with, and returns when it is finished.
func (f *runFlags) follow(ctx context.Context, r *running) (*store.HandOver, error) {
	spec, err := controller.ManualHandOver(r.schedule, f.once, whoIsThis(), r.clock.Now())
	if err != nil {
		return nil, err //nolint:wrapcheck // names it
	}
	h, err := r.store.EnsureHandOver(ctx, spec)
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for h.Status.Finished == nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("the controller goes on with %s: %w", h.Name, context.Cause(ctx))
		}
		if h, err = r.store.EnsureHandOver(ctx, spec); err != nil {
			return nil, err //nolint:wrapcheck // says what it was doing
		}
	}
	return h, nil
}

// show prints what came of a hand-over.
func (f *runFlags) show(s Streams, h *store.HandOver) error {
	err := f.out.write(s.Out, h, func(w io.Writer) error { return handOverText(w, h) })
	if err == nil && h.Status.Failed != "" {
		return &exitError{code: ExitFailed}
	}
	return err
}

func handOverText(w io.Writer, h *store.HandOver) error {
	var b []byte
	for _, row := range h.Status.Rows {
		b = fmt.Appendf(b, "%s: %s", row.Reservation, orDash(row.Result))
		if row.Reason != "" {
			b = fmt.Appendf(b, ": %s", row.Reason)
		}
		b = append(b, '\n')
		for _, c := range row.HeldBack {
			b = fmt.Appendf(b, "  %-24s held back: %s\n", c.Version+"/"+string(c.Intent), c.Reason)
		}
		for _, c := range row.Cells {
			b = fmt.Appendf(b, "  %-24s %s", c.Version+"/"+string(c.Intent), c.Outcome)
			if c.Reason != "" {
				b = fmt.Appendf(b, ": %s", c.Reason)
			}
			b = append(b, '\n')
		}
	}
	result := "done"
	if h.Status.Failed != "" {
		result = "failed"
	}
	b = fmt.Appendf(b, "%s %s\n", h.Spec.Entry, result)
	_, err := w.Write(b)
	return err //nolint:wrapcheck // the caller says what it was doing
}
