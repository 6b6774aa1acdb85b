package training

import (
	"testing"

	"github.com/firstlight/firstlight/internal/evidence/chart"
)

func TestCharts(t *testing.T) {
	t.Parallel()
	for _, framework := range []string{frameworkTorchtitan, frameworkMegatron} {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite(framework))
			_, obs := observeAndJudge(t, g, fakeTrainer{})
			byTitle := map[string]chart.Chart{}
			for _, c := range g.Charts(obs) {
				byTitle[c.Title] = c
			}
			if len(byTitle) != 3 {
				t.Fatalf("charts %v", byTitle)
			}
			if c := byTitle["Step time on every rank"]; len(c.X.Labels) != 32 || len(c.Series[0].Points) != 32 {
				t.Errorf("ranks %+v", c)
			}
			for _, title := range []string{"Step time", "Loss"} {
				if got, want := len(byTitle[title].Series[0].Points), g.site.Workloads.Training.Steps; got != want {
					t.Errorf("%s has %d points, want %d", title, got, want)
				}
			}
		})
	}
	if none := testGate(t, testSite(frameworkTorchtitan)).Charts(nil); len(none) != 0 {
		t.Errorf("drawn from nothing: %+v", none)
	}
}
