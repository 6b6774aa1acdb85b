package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// Figures and thresholds of the tests.
var (
	slow           = figure{part: "a", name: "start", unit: seconds, peer: "Peer", peerSamples: "peer: start"}
	rate           = figure{part: "a", name: "rate", unit: perSecond, higherIsBetter: true, peer: "Peer", peerSamples: "peer: rate"}
	other          = figure{part: "b", name: "other", unit: seconds}
	declaredInTest = []figure{slow, rate, other}

	atMost2  = threshold{Figure: "start", AtMost: 2, Unit: seconds, Source: "test"}
	ratioOf5 = threshold{Figure: "rate", RatioAtLeast: 5, Source: "test"}
)

func recorded(part, name string, values ...float64) samples {
	var s samples
	for _, v := range values {
		s.add(part, name, v)
	}
	return s
}

func (s samples) and(part, name string, values ...float64) samples {
	for _, v := range values {
		s.add(part, name, v)
	}
	return s
}

// row is the row of a name.
func row(t *testing.T, rows []result, name string) result {
	t.Helper()
	i := slices.IndexFunc(rows, func(r result) bool { return r.name == name })
	if i < 0 {
		t.Fatalf("no row %q in %+v", name, rows)
	}
	return rows[i]
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		figure  figure
		limit   threshold
		samples samples
		want    outcome
		problem string // in the text of the error; empty: no error
	}{
		{"median below", slow, atMost2, recorded("a", "start", 1, 9, 1.5), held, ""},
		{"median at the threshold", slow, atMost2, recorded("a", "start", 2), held, ""},
		{"median above", slow, atMost2, recorded("a", "start", 1, 2.1, 9), missed, "median 2.10 s, threshold at most 2.00 s"},
		{"no value", slow, atMost2, samples{}, notMeasured, "start: not measured"},
		{"value of another part", slow, atMost2, recorded("b", "start", 1), notMeasured, "not measured"},
		{"only the peer's value", slow, atMost2, recorded("a", "peer: start", 1), notMeasured, "not measured"},
		{"a missing field reads as 0", slow, atMost2, recorded("a", "start", 1, 0), notMeasured, "not measured"},
		{"negative", slow, atMost2, recorded("a", "start", -1), notMeasured, "not measured"},
		{"not a number", slow, atMost2, recorded("a", "start", math.NaN(), 1), notMeasured, "not measured"},
		{"infinite", slow, atMost2, recorded("a", "start", 1, 1, math.Inf(1)), notMeasured, "not measured"},
		{"ratio above", rate, ratioOf5, recorded("a", "rate", 600).and("a", "peer: rate", 100), held, ""},
		{"ratio at the threshold", rate, ratioOf5, recorded("a", "rate", 500).and("a", "peer: rate", 100), held, ""},
		{"ratio below", rate, ratioOf5, recorded("a", "rate", 490).and("a", "peer: rate", 100), missed, "ratio 4.90 to Peer, threshold ratio at least 5"},
		{"no peer", rate, ratioOf5, recorded("a", "rate", 600), notMeasured, "not measured"},
		{"a peer of 0", rate, ratioOf5, recorded("a", "rate", 600).and("a", "peer: rate", 0), notMeasured, "not measured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := row(t, judge(declaredInTest, []string{"a"}, c.samples, []threshold{c.limit}), c.figure.name)
			if r.outcome != c.want {
				t.Errorf("outcome %q, want %q: %+v", r.outcome, c.want, r)
			}
			err := r.problem()
			if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("problem %v, want %q", err, c.problem)
			}
		})
	}
}

// Above 1 is better than the peer, whichever way the figure goes.
func TestRatioDirection(t *testing.T) {
	t.Parallel()
	s := recorded("a", "start", 2).and("a", "peer: start", 6).and("a", "rate", 300).and("a", "peer: rate", 100)
	rows := judge(declaredInTest, []string{"a"}, s, nil)
	for _, name := range []string{"start", "rate"} {
		if got := row(t, rows, name).ratio; got != 3 {
			t.Errorf("%s: ratio %g, want 3", name, got)
		}
	}
	if got := row(t, judge(declaredInTest, []string{"a"}, recorded("a", "start", 6).and("a", "peer: start", 2), nil), "start").ratio; got >= 1 {
		t.Errorf("ratio %g of a start that takes longer than the peer's, want below 1", got)
	}
}

// Rows: declared figures in their order, then details; nothing of other parts, and no row of
// the peer's own.
func TestRows(t *testing.T) {
	t.Parallel()
	s := recorded("a", "start: step", 1, 3, 2, 10).and("a", "peer: start", 4).and("b", "other", 5)
	rows := judge(declaredInTest, []string{"a"}, s, []threshold{atMost2})
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	if want := []string{"start", "rate", "start: step"}; !slices.Equal(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	step := rows[2]
	if step.n != 4 || step.median != 2.5 || step.min != 1 || step.max != 10 || step.outcome != noThreshold {
		t.Errorf("row %+v, want n 4, median 2.5, 1 to 10, no threshold", step)
	}
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	const good = "{figure: start, atMost: 2, unit: s, source: x}"
	for _, c := range []struct{ name, yaml, problem string }{
		{"good", "thresholds: [" + good + ", {figure: rate, ratioAtLeast: 5, source: x}]", ""},
		{"unused", "thresholds: [{figure: begin, atMost: 2, unit: s, source: x}]", `"begin": unused threshold`},
		{"every problem", "thresholds: [{figure: begin, atMost: 2, unit: s, source: x}, {figure: start, atMost: 2, unit: s}]", "source is required"},
		{"twice", "thresholds: [" + good + ", " + good + "]", "two thresholds"},
		{"none", "thresholds: []", "no thresholds"},
		{"empty", "", "EOF"},
		{"unknown field", "thresholds: [{figure: start, atmost: 2, unit: s, source: x}]", "field atmost not found"},
		{"unknown section", "threshold: [" + good + "]", "field threshold not found"},
		{"no number", "thresholds: [{figure: start, unit: s, source: x}]", "one of atMost and ratioAtLeast"},
		{"zero", "thresholds: [{figure: start, atMost: 0, unit: s, source: x}]", "one of atMost and ratioAtLeast"},
		{"both", "thresholds: [{figure: start, atMost: 2, unit: s, ratioAtLeast: 2, source: x}]", "one of atMost and ratioAtLeast"},
		{"negative", "thresholds: [{figure: start, atMost: -2, ratioAtLeast: 2, source: x}]", "one of atMost and ratioAtLeast"},
		{"no unit", "thresholds: [{figure: start, atMost: 2, source: x}]", `invalid unit "": must be "s"`},
		{"unit of a ratio", "thresholds: [{figure: start, ratioAtLeast: 2, unit: s, source: x}]", "ratioAtLeast has no unit"},
		{"no peer", "thresholds: [{figure: other, ratioAtLeast: 2, source: x}]", "no peer"},
		{"wrong direction", "thresholds: [{figure: rate, atMost: 2, unit: /s, source: x}]", "higher values of this figure are better"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readThresholds([]byte(c.yaml), declaredInTest)
			if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("error %v, want %q", err, c.problem)
			}
		})
	}
}

// In the shipped data every threshold is used, every part has a figure, and no figure is declared twice.
func TestDeclared(t *testing.T) {
	t.Parallel()
	limits, err := readThresholds(thresholdsFile, figures)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is measured: every threshold fails.
	failed := 0
	for _, r := range judge(figures, namesOf(parts), samples{}, limits) {
		if r.problem() != nil {
			failed++
		}
	}
	if failed != len(limits) {
		t.Errorf("%d of %d thresholds fail when nothing is measured", failed, len(limits))
	}
	names := map[string]bool{}
	measured := map[string]bool{}
	for _, f := range figures {
		if names[f.name] {
			t.Errorf("figure %q is declared twice", f.name)
		}
		names[f.name], measured[f.part] = true, true
		if (f.peer == "") != (f.peerSamples == "") {
			t.Errorf("figure %q: peer %q, peerSamples %q", f.name, f.peer, f.peerSamples)
		}
	}
	for _, p := range namesOf(parts) {
		if !measured[p] {
			t.Errorf("part %s has no figure", p)
		}
	}
	if len(measured) != len(parts) {
		t.Errorf("figures are of %d parts, %d are measured", len(measured), len(parts))
	}
}

// A part that fails is a problem even where its figures were measured before it failed, and
// the parts after it are measured.
func TestReportOfFailedPart(t *testing.T) {
	t.Parallel()
	b := &bench{}
	r := b.report(t.Context(), []part{
		{"a", func(b *bench, _ context.Context) error { b.add("start", 1); return errors.New("lab down failed") }},
		{"b", func(b *bench, _ context.Context) error { b.add("other", 1); return nil }},
	}, declaredInTest, []threshold{atMost2})
	if err := errors.Join(r.problems...); err == nil || err.Error() != "a: lab down failed" {
		t.Errorf("problems %v, want the error of part a alone", err)
	}
	if !slices.Equal(r.failed, []string{"a"}) {
		t.Errorf("failed parts %q, want a", r.failed)
	}
	if got := row(t, r.rows, "other").n; got != 1 {
		t.Errorf("%d values of the next part, want 1", got)
	}
}

// A figure that was not measured because of an interrupt is a problem.
func TestReportOfInterruptedRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := &bench{}
	r := b.report(ctx, []part{
		{"a", func(b *bench, _ context.Context) error { cancel(); return nil }},
		{"b", func(*bench, context.Context) error { t.Error("part b began after an interrupt"); return nil }},
	}, declaredInTest, []threshold{atMost2})
	err := errors.Join(r.problems...)
	if err == nil || !strings.Contains(err.Error(), "b: context canceled") || !strings.Contains(err.Error(), "start: not measured") {
		t.Errorf("problems %v", err)
	}
}

func TestSelectParts(t *testing.T) {
	t.Parallel()
	all, err := selectParts("")
	if err != nil || len(all) != len(parts) {
		t.Errorf("all parts: %v, %v", namesOf(all), err)
	}
	some, err := selectParts("accept,lab")
	if err != nil || !slices.Equal(namesOf(some), []string{"lab", "accept"}) {
		t.Errorf("accept,lab: %v, %v", namesOf(some), err)
	}
	if _, err := selectParts("lab,labs"); err == nil || !strings.Contains(err.Error(), `unknown part "labs"`) {
		t.Errorf("labs: %v", err)
	}
}
