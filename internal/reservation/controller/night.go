package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

const (
	passed     = string(matrix.Passed)
	blocked    = string(matrix.Blocked)
	superseded = string(matrix.Superseded) // by a newer batch
)

// runBatch runs the batch at one reservation.
func (c *Controller) runBatch(ctx context.Context, l *runRecord, row config.Reservation) error {
	spec := l.now().Spec
	cells, err := c.cells(ctx, l, row)
	if err != nil || len(cells) == 0 {
		return err
	}
	record := func(ctx context.Context, cells []matrix.Cell) error {
		return l.write(ctx, func(s *store.HandOverStatus) { s.Row(row.Name).Cells = slices.Clone(cells) })
	}
	cells, err = c.opts.Batch.Run(ctx, Leg{
		Row: row, Cells: cells, Cutoff: c.opts.Batch.Cutoff(spec.Until.Time), Until: spec.Until.Time,
		Record: record, Waiting: c.idle.Waiting,
		Newer: func() bool { return c.newestBatch(row.Name).After(spec.At.Time) },
	})
	if ctx.Err() != nil || errors.Is(err, ErrHandOverTaken) {
		return errors.Join(context.Cause(ctx), err)
	}
	cells = concludeCells(cells, matrix.NotStarted)
	result, reason := matrix.Summarize(cells)
	if err != nil {
		result, reason = matrix.Failed, err.Error()
	}
	c.opts.Log.Info("leg", "entry", spec.Entry, "reservation", row.Name, "result", result, "why", reason)
	return l.write(ctx, func(s *store.HandOverStatus) {
		r := s.Row(row.Name)
		r.Cloud, r.Result, r.Reason, r.Cells, r.Ended = string(row.Cloud), string(result), reason, cells, c.stamp()
	})
}

// cells returns the recorded cells, or computes them; it retries while there is time to start one.
func (c *Controller) cells(ctx context.Context, l *runRecord, row config.Reservation) ([]matrix.Cell, error) {
	spec := l.now().Spec
	if have := l.row(row.Name); c.opts.Batch != nil && (len(have.Cells) > 0 || have.Ended != nil) {
		return have.Cells, nil
	}
	end := func(result, reason string) error {
		return l.write(ctx, func(s *store.HandOverStatus) {
			r := s.Row(row.Name)
			r.Cloud, r.Result, r.Reason, r.Ended = string(row.Cloud), result, reason, c.stamp()
		})
	}
	if c.opts.Batch == nil {
		return nil, end(blocked, "this controller runs no batch")
	}
	for attempt := 1; ; attempt++ {
		lane, err := c.opts.Batch.Plan(ctx, row)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil && len(lane.Cells) == 0:
			return nil, end(string(ResultUnchanged), cmp.Or(lane.Reason, "the matrix has no cell for it"))
		case err == nil:
			return lane.Cells, l.write(ctx, func(s *store.HandOverStatus) {
				r := s.Row(row.Name)
				r.Cloud, r.Cells, r.HeldBack = string(row.Cloud), lane.Cells, lane.HeldBack
			})
		}
		c.opts.Log.Warn("cannot compute the matrix", "entry", spec.Entry, "reservation", row.Name, "why", err, "attempt", attempt)
		next := c.opts.Clock.Now().Add(c.backoff(attempt))
		if next.After(c.opts.Batch.Cutoff(spec.Until.Time)) {
			return nil, end(blocked, fmt.Sprintf("cannot compute the matrix: %v", err))
		}
		if err := c.idle.Wait(ctx, next); err != nil {
			return nil, err
		}
	}
}

// concludeCells sets a final outcome for unfinished cells.
func concludeCells(cells []matrix.Cell, pending matrix.Outcome) []matrix.Cell {
	out := slices.Clone(cells)
	for i := range out {
		switch {
		case out[i].Outcome == matrix.Running:
			out[i].Outcome, out[i].Reason = matrix.Interrupted, "its runner stopped before it ended"
		case !out[i].Outcome.Ended():
			out[i].Outcome = pending
		}
	}
	return out
}
