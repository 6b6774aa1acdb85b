package inference

import (
	"math"
	"testing"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	// Of a coin thrown ten times, P(X=0) is 1/1024 and P(X<=1) 11/1024.
	for _, tt := range []struct {
		n           int
		p, alpha    float64
		least, most int
	}{
		{10, 0.5, 0.02, 1, 9}, {10, 0.5, 0.03, 2, 8}, {10, 0.5, 0.001, 0, 10}, {1, 0.5, 1e-6, 0, 1},
	} {
		if least, most := bounds(tt.n, tt.p, tt.alpha); least != tt.least || most != tt.most {
			t.Errorf("%d, %g, %g: %d to %d, want %d to %d", tt.n, tt.p, tt.alpha, least, most, tt.least, tt.most)
		}
	}
	sum := 0.0
	for k := range 401 {
		sum += binomial(400, k, 0.75)
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the probabilities are together %g", sum)
	}
}

// The figures distinguish a gateway that applies weights from a gateway that does not.
func TestFiguresTell(t *testing.T) {
	t.Parallel()
	f, err := readFigures(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	least, most := bounds(f.Requests, f.share(), f.Alpha)
	t.Logf("%d to %d of %d", least, most, f.Requests)
	turns := f.Requests * f.Weights[0] / (f.Weights[0] + f.Weights[1])
	if turns < least || turns > most {
		t.Errorf("taking turns gives %d", turns)
	}
	if sigma := math.Sqrt(float64(f.Requests)) / 2; float64(least) < float64(f.Requests)/2+5*sigma {
		t.Errorf("an even split is within 5 sigma of %d", least)
	}
	if most >= f.Requests {
		t.Error("all to the first is within the bounds")
	}
	if other := float64(f.Requests) * (1 - f.share()); other > float64(least) {
		t.Error("weights the other way round are within the bounds")
	}
}

func TestFiguresAreRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"an unknown key": string(figuresFile) + "\nwhatever: 1\n",
		"equal weights":  "weights: [1, 1]\nrequests: 10\nalpha: 0.01\nrepeats: 1\nheader: a\nlistenerPort: 1\nmodel: a\nmaxModelLen: 1\n",
		"no alpha":       "weights: [3, 1]\nrequests: 10\nrepeats: 1\nheader: a\nlistenerPort: 1\nmodel: a\nmaxModelLen: 1\n",
		"nothing":        "{}",
	} {
		if _, err := readFigures([]byte(raw)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
