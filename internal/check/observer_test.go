package check

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

// The remedy of a failed read follows from the API server's reason, not from words of a message.
func TestAReadIsForbiddenByItsReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"forbidden":           {fmt.Errorf("list: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no"))), true},
		"not found":           {apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "forbidden"), false},
		"another's forbidden": {errors.New("proxy: forbidden"), false},
		"no error":            {nil, false},
	} {
		var rec list
		if err := (Observer{Recorder: &rec, Clock: clocktesting.NewFakePassiveClock(time.Now())}).Begin("nodes", "cluster", "GET nodes").Record(1, tt.err); err != nil {
			t.Fatal(err)
		}
		if got := rec[0].Forbidden(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Ran keeps the times of another program; other observations are timed from Begin.
func TestDurations(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	var rec list
	begin := func() Attempt {
		a := (Observer{Recorder: &rec, Clock: clock}).Begin("nodes", "cluster", "GET nodes")
		clock.SetTime(clock.Now().Add(3 * time.Second))
		return a
	}
	if err := errors.Join(begin().Record(1, nil), begin().Ran(time.Unix(500, 0), time.Minute).Record(1, nil)); err != nil {
		t.Fatal(err)
	}
	if rec[0].Took.Duration != 3*time.Second || !rec[0].At.Equal(time.Unix(1000, 0)) {
		t.Errorf("%s, %s", rec[0].At, rec[0].Took)
	}
	if rec[1].Took.Duration != time.Minute || !rec[1].At.Equal(time.Unix(500, 0)) {
		t.Errorf("%s, %s", rec[1].At, rec[1].Took)
	}
}

// JSON has no NaN (json.UnsupportedValueError): such figures are an observation that failed, and Observe continues. A type that cannot be
// stored is a defect of the check.
func TestFiguresThatJSONLacks(t *testing.T) {
	t.Parallel()
	var rec list
	begin := func() Attempt {
		return (Observer{Recorder: &rec, Clock: clocktesting.NewFakePassiveClock(time.Now())}).Begin("series", "prometheus", "query up")
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := begin().Record(map[string]float64{"util": v}, nil); err != nil {
			t.Fatal(err)
		}
		if o := rec[len(rec)-1]; !o.Failed() || !strings.Contains(o.Err, "encode figures of series on prometheus: json: unsupported value: ") {
			t.Errorf("%v: %+v", v, o)
		}
	}
	if err := begin().Record(map[string]float64{"util": math.MaxFloat64}, nil); err != nil || rec[len(rec)-1].Failed() {
		t.Errorf("%v, %+v", err, rec[len(rec)-1])
	}
	stored := len(rec)
	if err := begin().Record(func() {}, nil); err == nil || len(rec) != stored {
		t.Errorf("a function was stored: %+v", rec[stored:])
	}
}

type list []Observation

func (l *list) Record(o Observation) (Observation, error) { *l = append(*l, o); return o, nil }
func (*list) Progress(string, ...any)                     {}
