package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// ErrHandOverTaken means that another controller changed the hand-over.
var ErrHandOverTaken = errors.New("another controller has taken over the hand-over")

// runRecord is a hand-over that concurrent legs write to.
type runRecord struct {
	store Store

	mu   sync.Mutex
	h    *store.HandOver
	done chan struct{} // closed when finished
}

func newRunRecord(s Store, h *store.HandOver) *runRecord {
	return &runRecord{store: s, h: h, done: make(chan struct{})}
}

func (l *runRecord) now() *store.HandOver {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.h.DeepCopy()
}

// row returns a row as last recorded.
func (l *runRecord) row(reservation string) store.HandOverRow {
	h := l.now()
	return *h.Status.Row(reservation)
}

// write changes the status and stores it. Transient errors are retried until ctx ends.
func (l *runRecord) write(ctx context.Context, change func(*store.HandOverStatus)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.h.DeepCopy()
	change(&next.Status)
	boundTexts(&next.Status)
	if same(next, l.h) {
		return nil
	}
	for unsure := false; ; {
		saved, err := l.store.SaveHandOver(ctx, next)
		switch {
		case err == nil:
			l.h = saved
			return nil
		case errors.Is(err, store.ErrConflict) && unsure: // our own earlier write may have succeeded
			found, err := l.store.EnsureHandOver(ctx, l.h.Spec)
			if err == nil && same(found, next) {
				l.h = found
				return nil
			}
			if err == nil {
				return fmt.Errorf("%s: %w", l.h.Name, ErrHandOverTaken)
			}
		case errors.Is(err, store.ErrConflict):
			return fmt.Errorf("%s: %w", l.h.Name, ErrHandOverTaken)
		case !broker.IsTransient(err):
			return err
		default:
			unsure = true
		}
		if ended := poll.Sleep(ctx, retryPause); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// maxTexts bounds all reasons of a hand-over together, in bytes: the store refuses an object of more
// than 1.5 MiB.
const maxTexts = 256 << 10

// boundTexts trims the reasons, to shorter ones if there are many.
func boundTexts(s *store.HandOverStatus) {
	var all []*string
	for i := range s.Rows {
		row := &s.Rows[i]
		all = append(all, &row.Reason)
		for j := range row.Cells {
			all = append(all, &row.Cells[j].Reason)
		}
		for j := range row.HeldBack {
			all = append(all, &row.HeldBack[j].Reason)
		}
	}
	for _, reason := range all {
		*reason = lease.Trim(*reason, min(lease.MaxReason, max(maxTexts/len(all), 80)))
	}
	s.Failed = lease.Trim(s.Failed, maxTexts/8)
}

// same compares the statuses.
func same(a, b *store.HandOver) bool {
	left, errLeft := json.Marshal(a.Status)
	right, errRight := json.Marshal(b.Status)
	return errLeft == nil && errRight == nil && string(left) == string(right)
}
