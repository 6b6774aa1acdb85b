package check

import (
	"math"
	"testing"
)

func TestAFigureMeetsItsLimit(t *testing.T) {
	t.Parallel()
	for relation, want := range map[string][3]bool{ // of 1, 2 and 3 with limit 2
		"": {true, true, true}, Expected: {true, true, true},
		">=": {false, true, true}, "<=": {true, true, false}, "==": {false, true, false},
	} {
		for i, wanted := range want {
			if met, err := (Figure{Value: float64(i + 1), Limit: 2, Relation: relation}).Meets(); met != wanted || err != nil {
				t.Errorf("%d %s 2: %v, %v", i+1, relation, met, err)
			}
		}
		nan := Figure{Value: math.NaN(), Limit: 2, Relation: relation}
		if met, err := nan.Meets(); met != (want == [3]bool{true, true, true}) || err != nil {
			t.Errorf("NaN %s 2: %v, %v", relation, met, err)
		}
	}
	if met, err := (Figure{Value: 1, Limit: 1, Relation: ">"}).Meets(); met || err == nil {
		t.Error("an unknown relation is met")
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	values := []float64{10, 20, 30, 40, 50}
	for p, want := range map[float64]float64{0: 10, 25: 20, 50: 30, 90: 46, 95: 48, 100: 50} {
		if got := Percentile(values, p); math.Abs(got-want) > 1e-9 {
			t.Errorf("p%g is %g, want %g", p, got, want)
		}
	}
	if got := Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("the percentile of no values is %g, want NaN", got)
	}
}
