package controller

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// flaky is a store whose first list and first deletion fail with a transient error.
type flaky struct {
	Store
	lists, deletions int
	// oldest and most history to keep
	oldest time.Time
	most   int
}

func (f *flaky) ListHandOvers(context.Context, time.Time) ([]*store.HandOver, error) {
	if f.lists++; f.lists == 1 {
		return nil, io.ErrUnexpectedEOF
	}
	return nil, nil
}

func (*flaky) ListManualHandOvers(context.Context) ([]*store.HandOver, error) { return nil, nil }

func (f *flaky) DeleteHandOver(context.Context, string) error {
	if f.deletions++; f.deletions == 1 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (f *flaky) PruneHistory(_ context.Context, oldest time.Time, most int) error {
	f.oldest, f.most = oldest, most
	return errors.New("no rights")
}

// A transient error of the store ends neither the start of a controller nor a hand-over.
func TestTransientErrorsDoNotEndTheController(t *testing.T) {
	times := exampleSchedule(t)
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{}
		c := New(Options{Store: f, Broker: poisoned{}, Schedule: times, Registry: &config.Registry{}})
		c.known["old"] = c.opts.Clock.Now().Add(-2 * c.opts.Retention)
		if err := c.prune(t.Context()); err != nil || f.deletions != 2 {
			t.Errorf("prune: %v after %d deletions", err, f.deletions)
		}
		now := c.opts.Clock.Now()
		if age := now.Sub(f.oldest); age < DefaultRetention || age > DefaultRetention+time.Second || f.most != DefaultHistoryLimit {
			t.Errorf("history is kept since %s, at most %d events", f.oldest, f.most)
		}
		from, err := c.resume(t.Context(), func(error) {})
		if err != nil || from.Before(now) || f.lists != 2 {
			t.Errorf("resume: %v after %d lists", err, f.lists)
		}
	})
}
