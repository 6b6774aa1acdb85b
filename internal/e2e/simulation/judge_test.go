package simulation

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// goodDay is one on which all went well.
func goodDay() dayRecord {
	begins := time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC)
	handOver := func(entry string, hour int) *store.HandOver {
		at := clockTime(begins, hour, 0)
		done := metav1.NewTime(at.Add(time.Hour))
		h := &store.HandOver{Spec: store.HandOverSpec{Entry: entry, At: metav1.NewTime(at), Until: metav1.NewTime(at.Add(2 * time.Hour))}}
		h.Status.Finished = &done
		h.Status.Row(trainingCloud).Attempts = 2
		h.Status.Row(inferenceCloud).Attempts = 2
		return h
	}
	m := dayRecord{begins: begins, up: handOver("morning-up", 15), down: handOver("evening-down", 2), batch: handOver("nightly-batch", 4), history: map[string][]lease.Event{}}
	m.batch.Status.Row(trainingCloud).Cells = []matrix.Cell{{Version: "main", Intent: "training", Outcome: matrix.Passed, Checks: 2, Attempts: 2}}
	m.wanted = []string{trainingCloud + " main/training"}
	return m
}

func TestDayMatchesExpectation(t *testing.T) {
	cell := func(m *dayRecord) *matrix.Cell { return &m.batch.Status.Row(trainingCloud).Cells[0] }
	for name, c := range map[string]struct {
		change func(*dayRecord)
		says   string
	}{
		"all well":                {func(*dayRecord) {}, ""},
		"no morning":              {func(m *dayRecord) { m.up = nil }, "not started"},
		"an evening without end":  {func(m *dayRecord) { m.down.Status.Finished = nil }, "not finished"},
		"a morning that failed":   {func(m *dayRecord) { m.up.Status.Failed = "no capacity" }, "no capacity"},
		"a morning that was late": {func(m *dayRecord) { m.up.Status.Finished.Time = m.up.Spec.Until.Add(time.Second) }, "after its window"},
		"one cloud of two":        {func(m *dayRecord) { m.up.Status.Rows = m.up.Status.Rows[:1] }, "it has 1 reservations"},
		"no night":                {func(m *dayRecord) { m.batch = nil }, "not finished"},
		"a cell that failed":      {func(m *dayRecord) { cell(m).Outcome = matrix.Failed }, "want passed"},
		"a cell without a check":  {func(m *dayRecord) { cell(m).Checks = 0 }, "without a check"},
		"a cell that was not run": {func(m *dayRecord) { m.batch.Status.Rows = nil }, "the cell is missing"},
		"an unexpected cell":      {func(m *dayRecord) { m.wanted = nil }, "unexpected cell"},
	} {
		t.Run(name, func(t *testing.T) {
			m := goodDay()
			c.change(&m)
			got := m.allWell()
			if (c.says == "") != (len(got) == 0) || c.says != "" && !strings.Contains(got[0].Reason, c.says) {
				t.Errorf("%v, want %q", got, c.says)
			}
		})
	}
	m := goodDay()
	name := trainingCloud + " main/training"
	if got := m.cells(map[string]matrix.Outcome{name: matrix.Failed}); len(got) != 1 {
		t.Errorf("a cell that should fail passed, and: %v", got)
	}
}

func TestWhatHappened(t *testing.T) {
	m := goodDay()
	m.history[trainingCloud] = []lease.Event{line(lease.Queued, "ada", 0), line(lease.Claimed, "ada", 5), line(lease.Claimed, "bob", 6), line(lease.Released, "ada", 5)}
	for name, c := range map[string]struct {
		got  []Finding
		want int
	}{
		"in this order":        {m.happened(trainingCloud, "ada", lease.Queued, lease.Claimed, lease.Released), 0},
		"anybody":              {m.happened(trainingCloud, "", lease.Claimed, lease.Released), 0},
		"in another order":     {m.happened(trainingCloud, "ada", lease.Released, lease.Claimed), 1},
		"another holder":       {m.happened(trainingCloud, "bob", lease.Released), 1},
		"elsewhere":            {m.happened(inferenceCloud, "ada", lease.Claimed), 1},
		"in order":             {m.inOrder(trainingCloud, "ada", "bob"), 0},
		"out of turn":          {m.inOrder(trainingCloud, "bob", "ada"), 1},
		"not all had it":       {m.inOrder(trainingCloud, "ada", "bob", "eve"), 1},
		"begun again":          {m.twice(trainingCloud), 0},
		"nothing begun again":  {m.twice(inferenceCloud), 1},
		"a scene without life": {quietDay().expect(goodDay()), 3},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.got) != c.want {
				t.Errorf("%v, want %d findings", c.got, c.want)
			}
		})
	}
	// Each scene of the week finds it out when nothing of it happened.
	for _, s := range week() {
		quiet := goodDay()
		cell := &quiet.batch.Status.Row(trainingCloud).Cells[0]
		cell.Attempts = 1
		quiet.up.Status.Row(trainingCloud).Attempts = 1
		if got := s.expect(quiet); len(got) == 0 {
			t.Errorf("%s: a day on which nothing of it happened is a good one", s.name)
		}
	}
}

func TestScenesByName(t *testing.T) {
	if got, err := chosen(nil); err != nil || len(got) != 7 {
		t.Errorf("%v %v", got, err)
	}
	if got, err := chosen([]string{"crash"}); err != nil || len(got) != 1 || got[0].name != "crash" {
		t.Errorf("%v %v", got, err)
	}
	if _, err := chosen([]string{"crash", "flood"}); err == nil || !strings.Contains(err.Error(), "missed-teardown") {
		t.Errorf("%v", err)
	}
}
