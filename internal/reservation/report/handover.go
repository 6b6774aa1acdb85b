package report

import (
	"cmp"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// cellOutcomes has all outcomes.
var cellOutcomes = []matrix.Outcome{
	matrix.Pending, matrix.Running, matrix.Passed, matrix.Failed, matrix.TimedOut, matrix.Blocked,
	matrix.NotStarted, matrix.Superseded, matrix.Interrupted,
}

func handOverResult(h *store.HandOver) string {
	switch {
	case h.Status.Finished == nil:
		return "running"
	case h.Status.Failed != "":
		return "failed"
	default:
		return "done"
	}
}

// handOvers reports the newest hand-over of each entry; list is sorted, oldest first.
func (s *sink) handOvers(list []*store.HandOver, now time.Time) {
	type entryResult struct{ entry, result string }
	due := map[entryResult]time.Time{}
	newest, ended := map[string]*store.HandOver{}, map[string]*store.HandOver{}
	for _, h := range list {
		due[entryResult{h.Spec.Entry, handOverResult(h)}] = h.Spec.At.Time
		newest[h.Spec.Entry] = h
		if h.Status.Finished != nil {
			ended[h.Spec.Entry] = h
		}
	}
	for k, at := range due {
		s.gauge(handOverLast, unixSeconds(at), k.entry, k.result)
	}
	for entry, h := range ended {
		s.flag(handOverFailed, h.Status.Failed != "", entry)
	}
	for entry, h := range newest {
		s.flag(handOverOverdue, h.Status.Finished == nil && now.After(h.Spec.Until.Time), entry)
		if h.Spec.Action == "batch" {
			s.cells(h)
		}
	}
}

func (s *sink) cells(h *store.HandOver) {
	of := map[string]map[matrix.Outcome]int{}
	for _, row := range h.Status.Rows {
		if of[row.Reservation] == nil {
			of[row.Reservation] = map[matrix.Outcome]int{}
		}
		for _, c := range row.Cells {
			of[row.Reservation][cmp.Or(c.Outcome, matrix.Pending)]++
		}
	}
	for name, counts := range of {
		for _, o := range cellOutcomes {
			s.gauge(batchCells, float64(counts[o]), h.Spec.Entry, name, string(o))
		}
	}
}
