package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

func TestCharts(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	ms := func(v float64) *float64 { return &v }
	o, err := check.Observation{Kind: KindLoad}.WithFigures(LoadFigures{RatePerSecond: 10, Concurrency: 4, Requests: []Request{
		{TTFT: ms(30), TPOT: ms(6), E2E: ms(90), Tokens: 10},
		{TTFT: ms(20), TPOT: ms(5), E2E: ms(70), Tokens: 10},
		{Error: "status 500"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	charts := g.Charts([]check.Observation{{Kind: KindLoad, Err: "no server"}, o})
	if len(charts) != 2 {
		t.Fatalf("%d charts", len(charts))
	}
	for i, limit := range []float64{5000, 3000} {
		c := charts[i]
		if p := c.Series[0].Points; len(p) != 2 || p[1].Y != 100 || len(c.Limits) != 1 || c.Limits[0].Value != limit {
			t.Errorf("%s: %+v", c.Title, c)
		}
	}
	if none := g.Charts(nil); len(none) != 0 {
		t.Errorf("drawn from nothing: %+v", none)
	}
}
