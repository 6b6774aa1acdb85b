package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// saved is a store that keeps the last hand-over.
type saved struct {
	Store
	h *store.HandOver
}

func (s *saved) SaveHandOver(_ context.Context, h *store.HandOver) (*store.HandOver, error) {
	s.h = h
	return h, nil
}

// However many cells fail, and whatever their hooks print, a hand-over fits into the store.
func TestTextsOfAHandOverAreBounded(t *testing.T) {
	s := &saved{}
	l := newRunRecord(s, &store.HandOver{})
	long := strings.Repeat("x", 100<<10)
	err := l.write(t.Context(), func(status *store.HandOverStatus) {
		for i := range 60 {
			row := status.Row(fmt.Sprint("r", i))
			row.Reason = long
			for range 12 {
				row.Cells = append(row.Cells, matrix.Cell{Outcome: matrix.Failed, Reason: long, Evidence: strings.Repeat("e", 100)})
				row.HeldBack = append(row.HeldBack, matrix.HeldBack{Reason: long})
			}
		}
		status.Failed = long
	})
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := json.Marshal(s.h); err != nil || len(raw) > 1<<20 {
		t.Errorf("it has %d bytes: %v", len(raw), err)
	}
}
