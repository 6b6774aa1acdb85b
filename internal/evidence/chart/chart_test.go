package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the drawing is not XML: %v\n%s", err, svg)
		}
	}
}

func TestSVG(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	tests := map[string]struct {
		c    Chart
		has  []string
		lack []string
	}{
		"line by size against its ceiling": {
			Chart{
				Title: "busbw <all>", X: Axis{Label: "size", Scale: Bytes}, Y: Axis{Label: "GB/s", Scale: LinearZero, Unit: "GB/s"},
				Series: []Series{{Name: "a & b", Points: []Point{{X: 1024, Y: 3}, {X: 1 << 30, Y: 390}}}},
				Limits: []Limit{{Name: "ceiling", Value: 450}},
			},
			[]string{`aria-label="busbw &lt;all&gt;"`, "a &amp; b: 1 GiB, 390 GB/s", "MiB</text>", `class="limit"`, ">500</text>"}, nil,
		},
		"distribution with an objective": {
			Chart{Series: []Series{Distribution("ttft", []float64{3, 1, 2})}, Y: Axis{Scale: Percent}, Limits: []Limit{{Name: "objective", Value: 9, Vertical: true}}},
			[]string{`class="line"`, ">100</text>", "objective"}, nil,
		},
		"ranges of ranks": {
			Chart{X: Axis{Labels: []string{"r0", "r1"}}, Series: []Series{{Kind: Ranges, Points: []Point{Spread(0, []float64{1, 2, 3}), Spread(1, []float64{5})}}}},
			[]string{`class="range"`, ">r0</text>", ">r1</text>"}, nil,
		},
		"bars": {
			Chart{X: Axis{Labels: []string{"x"}}, Series: []Series{{Kind: Bars, Points: []Point{{X: 0, Y: 4}}}}},
			[]string{`class="bar-mark"`}, nil,
		},
		"NaN and infinite values are left out": {
			Chart{Series: []Series{{Points: []Point{{X: nan, Y: 1}, {X: 1, Y: inf}, {X: 2, Y: 2}}}}, Limits: []Limit{{Value: nan}}},
			[]string{"M"}, []string{"NaN", "Inf", `class="limit"`},
		},
		"zero bytes have no logarithm": {
			Chart{X: Axis{Scale: Bytes}, Series: []Series{{Points: []Point{{X: 0, Y: 1}, {X: 8, Y: 1}}}}}, []string{"8 B"}, []string{"NaN", "Inf"},
		},
		"spans in rows, with frames": {
			Chart{
				X: Axis{Label: "seconds", Unit: "s", Scale: LinearZero}, Y: Axis{Labels: []string{"a <hop>", "b"}},
				Series: []Series{
					{Name: "took", Kind: Spans, Points: []Point{{Y: 0, Low: 0, High: 1.5}, {Y: 1, Low: 1.5, High: 1.5}, {Y: 7, Low: 0, High: 1}}},
					{Name: "budget", Kind: Frames, Points: []Point{{Y: 0, Low: 0, High: 4}, {Y: nan, Low: 0, High: inf}}},
				},
			},
			[]string{`class="span"`, `class="frame"`, "a &lt;hop&gt;, took: 1.5 s", `width="2.0"`, ">b</text>", `viewBox="0 0 720 112"`}, []string{"NaN", "Inf"},
		},
		"rows without labels": {Chart{Series: []Series{{Kind: Spans, Points: []Point{{Y: 3, High: 1}}}}}, []string{`class="span"`}, []string{"NaN"}},
		"nothing":             {Chart{}, []string{"<svg"}, []string{"NaN", "Inf"}},
		"one value":           {Chart{Series: []Series{{Points: []Point{{X: 5, Y: 5}}}}}, []string{"M"}, []string{"NaN", "Inf"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svg := string(tt.c.SVG())
			wellFormed(t, svg)
			for _, s := range tt.has {
				if !strings.Contains(svg, s) {
					t.Errorf("lacks %q:\n%s", s, svg)
				}
			}
			for _, s := range tt.lack {
				if strings.Contains(svg, s) {
					t.Errorf("has %q:\n%s", s, svg)
				}
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	if !(Chart{Series: []Series{{Points: []Point{{X: math.NaN()}}}, {}}}).Empty() {
		t.Error("a chart without values is not empty")
	}
	if (Chart{Series: []Series{{Points: []Point{{}}}}}).Empty() {
		t.Error("a chart with a value is empty")
	}
}

func TestDistribution(t *testing.T) {
	t.Parallel()
	want := []Point{{X: 1, Y: 25}, {X: 2, Y: 50}, {X: 2, Y: 75}, {X: 4, Y: 100}}
	if diff := cmp.Diff(want, Distribution("x", []float64{2, 4, math.Inf(1), 1, 2}).Points); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		scale  Scale
		values []float64
		want   []float64
	}{
		"from zero":    {LinearZero, []float64{3, 390}, []float64{0, 100, 200, 300, 400}},
		"between":      {Linear, []float64{2851, 2870}, []float64{2850, 2855, 2860, 2865, 2870}},
		"percent":      {Percent, []float64{10}, []float64{0, 25, 50, 75, 100}},
		"powers of 2":  {Bytes, []float64{1, 16}, []float64{1, 2, 4, 8, 16}},
		"many of them": {Bytes, []float64{1, 1 << 32}, []float64{1, 1 << 4, 1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 32}},
		"none":         {Linear, nil, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newAxis(tt.scale, tt.values, 0, 100).ticks
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
				t.Errorf("ticks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnreadableLabelsAreOmitted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		labels []string
		want   int
	}{
		"few":       {[]string{"a", "b"}, 2},
		"many long": {slices.Repeat([]string{"gpu-01 + gpu-02"}, 28), 6},
		"ranks":     {slices.Repeat([]string{"31"}, 32), 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := len(labelAxis(tt.labels, 60, 700).ticks); got > tt.want || got == 0 {
				t.Errorf("%d ticks, room for %d", got, tt.want)
			}
		})
	}
}
