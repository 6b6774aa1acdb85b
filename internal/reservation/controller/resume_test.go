package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// After a kill during provisioning, or during the batch, the next controller resumes without
// repeating work.
func TestGoesOn(t *testing.T) {
	from := at(t, "2027-01-10T14:30:00Z") // half an hour into the window
	h := newHarness(t, "goes-on", from)
	for _, spec := range []store.HandOverSpec{
		{Entry: h.name + "-up", Action: "up", At: metav1.NewTime(from.Add(-24*time.Hour - 30*time.Minute)), Until: metav1.NewTime(from.Add(-21 * time.Hour))},
		{Entry: h.name + "-batch", Action: "batch", At: metav1.NewTime(from.Add(-11*time.Hour - 30*time.Minute)), Until: metav1.NewTime(from.Add(-5*time.Hour - 40*time.Minute))},
	} {
		o, err := h.k.EnsureHandOver(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if spec.Action == "batch" {
			o.Status.Row(h.name).Cells = []matrix.Cell{{Version: "main", Intent: "training", Outcome: matrix.Running, Token: 1}, {Version: "v1.0.0", Intent: "training", Outcome: matrix.Pending}}
			if _, err := h.k.SaveHandOver(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := h.play(t, from.Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)
	if len(got["up"]) != 2 || len(got["down"]) != 0 || len(got["batch"]) != 1 {
		t.Fatalf("%d ups, %d downs, %d batches", len(got["up"]), len(got["down"]), len(got["batch"]))
	}
	old, today, batch := got["up"][0].Status, got["up"][1].Status, got["batch"][0].Status
	if !strings.Contains(old.Failed, "its window ended") {
		t.Errorf("yesterday's: %+v", old)
	}
	if cells := batch.Rows[0].Cells; batch.Finished == nil || cells[0].Outcome != matrix.Interrupted || cells[1].Outcome != matrix.NotStarted || batch.Failed == "" {
		t.Errorf("the batch: %+v", batch)
	}
	if today.Failed != "" || today.Finished == nil || h.cloud.called(hook.Provision) != 1 {
		t.Errorf("today's, which is late: %+v", today)
	}
}

// Occurrences without a controller are recorded as missed.
func TestMissed(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "missed", from)
	if err := h.play(t, from.Add(time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if err := h.clock.Jump(from.Add(50 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := h.play(t, from.Add(51*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)
	if len(got["up"]) != 3 || len(got["down"]) != 2 || len(got["batch"]) != 2 {
		t.Fatalf("%d ups, %d downs, %d batches", len(got["up"]), len(got["down"]), len(got["batch"]))
	}
	for _, o := range []*store.HandOver{got["up"][1], got["down"][0], got["down"][1], got["batch"][0], got["batch"][1]} {
		if o.Status.Finished == nil || !strings.Contains(o.Status.Failed, "its window ended") {
			t.Errorf("%s: %+v", o.Name, o.Status)
		}
	}
}

// A controller that starts for the first time has missed nothing.
func TestFirstStart(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "first", from)
	if err := h.play(t, from.Add(10*time.Minute), nil); err != nil {
		t.Fatal(err)
	}
	if got := h.done(t); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Work of a killed controller is started again, and one deployment exists at the end.
func TestKilledWhileItStandsSomethingUp(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "killed", from)
	removed, kill := context.WithCancelCause(t.Context())
	died := errors.New("it was killed")
	h.cloud.before = func(_ context.Context, v hook.Verb, _ string, _ hook.Lease) error {
		if v == hook.Provision && removed.Err() == nil {
			kill(died)
		}
		return nil
	}
	first := New(h.opts)
	ended := make(chan error, 1)
	go func() { ended <- first.Run(removed) }()
	for removed.Err() == nil {
		if s := first.Status(); s.Idle && s.Next.After(h.clock.Now()) {
			if err := h.clock.Jump(s.Next); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	up := h.done(t)["up"]
	if len(up) != 1 || up[0].Status.Finished != nil {
		t.Fatalf("%+v", up)
	}
	if err := h.play(t, from.Add(2*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	if up = h.done(t)["up"]; len(up) != 1 || up[0].Status.Failed != "" || up[0].Status.Finished == nil {
		t.Errorf("%+v", up[0].Status)
	}
	if len(h.cloud.stands) != 1 {
		t.Errorf("%d stand: %v", len(h.cloud.stands), h.cloud.stands)
	}
}

func TestOnce(t *testing.T) {
	from := at(t, "2027-01-10T09:00:00Z")
	h := newHarness(t, "once", from)
	done, err := New(h.opts).Once(t.Context(), h.name+"-up", "ada")
	if err != nil || done.Status.Failed != "" || done.Spec.By != "ada" || h.cloud.called(hook.Provision) != 1 {
		t.Errorf("%v %+v", err, done)
	}
	if _, err := New(h.opts).Once(t.Context(), "noon", "ada"); err == nil || !strings.Contains(err.Error(), `"noon"`) {
		t.Errorf("an unknown entry: %v", err)
	}
}

// A running controller takes over manual hand-overs.
func TestBegunByHand(t *testing.T) {
	from := at(t, "2027-01-10T13:30:00Z")
	h := newHarness(t, "by-hand", from)
	spec, err := ManualHandOver(h.opts.Schedule, h.name+"-batch", "ada", from)
	if err != nil {
		t.Fatal(err)
	}
	begun := false
	if err := h.play(t, from.Add(20*time.Minute), func(time.Time) bool {
		if begun {
			got := h.done(t)["batch"]
			return got[0].Status.Finished != nil
		}
		begun = true
		if _, err := h.k.EnsureHandOver(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)["batch"]
	if len(got) != 1 || got[0].Status.Failed != "" || h.batch.runs != 1 {
		t.Errorf("%d runs: %+v", h.batch.runs, got[0].Status)
	}
}

// The matrix that is not known is asked for again, until no cell could begin any more.
func TestMatrixThatIsNotKnown(t *testing.T) {
	from := at(t, "2027-01-10T02:30:00Z")
	h := newHarness(t, "unknown", from)
	h.batch.fails = errors.New("no tags")
	if err := h.play(t, from.Add(11*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	batch := h.done(t)["batch"][0].Status
	if h.batch.runs > 0 || !strings.Contains(batch.Failed, "blocked: cannot compute the matrix: no tags") {
		t.Errorf("%+v", batch)
	}
}

// A controller without a batch reports it and does everything else.
func TestNoBatch(t *testing.T) {
	from := at(t, "2027-01-10T02:30:00Z")
	h := newHarness(t, "none", from)
	h.opts.Batch = nil
	if err := h.play(t, from.Add(13*time.Hour), nil); err != nil {
		t.Fatal(err)
	}
	got := h.done(t)
	if batch := got["batch"][0].Status; !strings.Contains(batch.Failed, "runs no batch") {
		t.Errorf("%+v", batch)
	}
	if len(got["up"]) != 1 {
		t.Errorf("%v", got)
	}
}

// Regression: the sweep, which starts manual hand-overs, started one that was just being started,
// and both took it from each other.
func TestBegunOnce(t *testing.T) {
	from := at(t, "2027-01-10T09:00:00Z")
	h := newHarness(t, "twice", from)
	spec, err := ManualHandOver(h.opts.Schedule, h.name+"-up", "ada", from)
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.k.EnsureHandOver(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	c := New(h.opts)
	stop := func(err error) { t.Errorf("the controller is ended: %v", err) }
	first := c.start(t.Context(), stop, o)
	if err := c.startManual(t.Context(), stop); err != nil {
		t.Fatal(err)
	}
	if second := c.start(t.Context(), stop, o.DeepCopy()); second != first {
		t.Error("it was begun twice")
	}
	<-first.done
	c.workers.Wait()
	if n := h.cloud.called(hook.Provision); n != 1 {
		t.Errorf("%d were provisioned", n)
	}
}
