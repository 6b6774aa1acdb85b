package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

func TestHandOver(t *testing.T) {
	k := shared.Kube(t)
	ctx := t.Context()
	at := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	spec := store.HandOverSpec{Entry: "nightly-batch", Action: "batch", At: metav1.NewTime(at), Until: metav1.NewTime(at.Add(5 * time.Hour))}
	h, err := k.EnsureHandOver(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	old := h.DeepCopy()
	h.Status.Row("gcp-h100").Cells = []matrix.Cell{{Version: "main", Intent: "training", Outcome: matrix.Running, Token: 7}}
	if h, err = k.SaveHandOver(ctx, h); err != nil {
		t.Fatal(err)
	}
	if _, err := k.SaveHandOver(ctx, old); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an old version was written over a newer one: %v", err)
	}
	again, err := k.EnsureHandOver(ctx, spec)
	if err != nil || again.UID != h.UID || again.Status.Row("gcp-h100").Cells[0].Token != 7 {
		t.Errorf("a second hand-over of one occurrence: %v %+v", err, again.Status)
	}
	now := metav1.NewTime(at.Add(time.Hour))
	again.Status.Finished = &now
	if again, err = k.SaveHandOver(ctx, again); err != nil {
		t.Fatal(err)
	}
	again.Status.Finished = nil
	if _, err := k.SaveHandOver(ctx, again); err == nil || !strings.Contains(err.Error(), "not started again") {
		t.Errorf("a finished hand-over was started again: %v", err)
	}
	for since, want := range map[time.Time]int{at: 1, at.Add(time.Second): 0} {
		if list, err := k.ListHandOvers(ctx, since); err != nil || len(list) != want {
			t.Errorf("since %v: %d %v, want %d", since, len(list), err, want)
		}
	}
}
