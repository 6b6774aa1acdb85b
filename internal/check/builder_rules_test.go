package check_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestAddedFindingsDecideLikeNewOnes(t *testing.T) {
	t.Parallel()
	hot := check.NewFinding("1", "a", "cool it", "hot")
	for name, tt := range map[string]struct {
		add     func(*check.Builder)
		clean   bool
		verdict check.Verdict
	}{
		"none":       {func(*check.Builder) {}, true, check.Passed},
		"a note":     {func(b *check.Builder) { b.Note("", "a", "read it", "old") }, true, check.Passed},
		"failed":     {func(b *check.Builder) { b.AddFailed(hot) }, false, check.Failed},
		"unobserved": {func(b *check.Builder) { b.AddUnobserved(hot) }, false, check.Unobserved},
	} {
		var b check.Builder
		tt.add(&b)
		if j := b.Judgement("8 GPUs"); b.Clean() != tt.clean || j.Verdict != tt.verdict {
			t.Errorf("%s: clean %t, %s", name, b.Clean(), j.Verdict)
		}
	}
}

func TestAFindingWithoutObservationHasNone(t *testing.T) {
	t.Parallel()
	if f := check.NewFinding("", "a", "cool it", "hot"); f.Observations != nil {
		t.Errorf("%q", f.Observations)
	}
}

func TestMergedSuspectsDoNotChangeTheAddedFindings(t *testing.T) {
	t.Parallel()
	ids := append(make([]string, 0, 2), "1")
	var b check.Builder
	b.AddFailed(check.Finding{Suspect: "a", Message: "hot", Observations: ids})
	b.Fail("2", "a", "cool it", "slow")
	b.MergeSuspects()
	if diff := cmp.Diff([]string{"1", ""}, ids[:2]); diff != "" {
		t.Error(diff)
	}
}

func TestASummaryOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	if text := check.Summary(nil); text != "" {
		t.Errorf("%q", text)
	}
}

// Partial figures stay in the evidence, and the error decides.
func TestPartialFiguresAreStoredWithTheirError(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var s store
	seen := check.Observer{Recorder: &s, Clock: testingclock.NewFakePassiveClock(at)}.Begin("k", "node", "get nodes").Exit(3)
	if err := seen.RecordPartial(3, errors.New("refused")); err != nil {
		t.Error(err)
	}
	if err := seen.RecordPartial(4, nil); err != nil {
		t.Error(err)
	}
	code := 3
	want := []check.Observation{
		{Kind: "k", Target: "node", Command: "get nodes", At: at, Took: metav1.Duration{}, Exit: &code, Figures: []byte("3"), Err: "refused"},
		{Kind: "k", Target: "node", Command: "get nodes", At: at, Took: metav1.Duration{}, Exit: &code, Figures: []byte("4")},
	}
	if diff := cmp.Diff(want, s.stored); diff != "" {
		t.Error(diff)
	}
	if _, err := check.Decode[int](s.stored[0]); err == nil {
		t.Error("partial figures are decoded as complete")
	}
	if err := seen.RecordPartial(make(chan int), errors.New("refused")); err == nil {
		t.Error("figures without JSON are stored")
	}
	if err := seen.Record(make(chan int), nil); err == nil {
		t.Error("an observation without its figures is stored")
	}
	s.err = errors.New("disk full")
	if o, err := seen.Store(3, nil); !errors.Is(err, s.err) || o.ID != "0001" {
		t.Errorf("%+v, %v", o, err)
	}
}
