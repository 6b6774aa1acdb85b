package collective

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

func runFigures(t *testing.T, scope string, nodes []string, busbw ...float64) check.Observation {
	t.Helper()
	f := Figures{Scope: scope, Nodes: nodes, GPUsPerNode: 8}
	for _, factor := range []float64{1, 0.9, 1.1} {
		run := nccl.Run{}
		for i, bw := range busbw {
			run.Rows = append(run.Rows, nccl.Row{Bytes: 1 << (20 + i), InPlace: &nccl.Side{BusBW: bw * factor}})
		}
		f.Runs = append(f.Runs, run)
	}
	o, err := check.Observation{Kind: KindRun}.WithFigures(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestCharts(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	charts := g.Charts([]check.Observation{
		runFigures(t, ScopeAll, []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}, 100, 200, 370),
		runFigures(t, ScopePair, []string{"gpu-01", "gpu-02"}, 480),
		runFigures(t, ScopeNode, []string{"gpu-03"}, 470),
		{Kind: KindRun, Err: "no log"},
	})
	if len(charts) != 2 {
		t.Fatalf("%d charts", len(charts))
	}
	curve := charts[0]
	if p := curve.Series[0].Points; len(p) != 3 || p[2].X != 1<<22 || p[2].Y != 370 || len(curve.Limits) != 2 {
		t.Errorf("curve %+v", curve)
	}
	if low := curve.Series[1].Points[2].Y; low >= 370 {
		t.Errorf("lowest %v", low)
	}
	if bars := charts[1]; strings.Join(bars.X.Labels, ";") != "gpu-01 + gpu-02;gpu-03" || len(bars.Series[0].Points) != 2 {
		t.Errorf("bars %+v", bars)
	}
	if none := g.Charts(nil); len(none) != 0 {
		t.Errorf("drawn from nothing: %+v", none)
	}
}
