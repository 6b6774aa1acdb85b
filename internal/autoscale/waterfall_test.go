package autoscale

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/golden"
)

func TestWaterfall(t *testing.T) {
	t.Parallel()
	s := snapshottest.Setup()
	for i := range s.Settings {
		if s.Settings[i].Name == snapshot.SettingHPASync {
			s.Settings[i].Value = metav1.Duration{Duration: 300 * time.Millisecond} // the HPA took longer
		}
	}
	r, err := NewReport(chainOf(t, s, nil))
	if err != nil {
		t.Fatal(err)
	}
	text := r.Waterfall(nil)
	golden.Compare(t, "testdata/waterfall.txt", text)
	for line := range strings.SplitSeq(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	painted := r.Waterfall(func(s Shade, text string) string { return "<" + string(rune('0'+int(s))) + text + ">" })
	for _, shade := range []string{"<0", "<1", "<2", "<3"} {
		if !strings.Contains(painted, shade) {
			t.Errorf("nothing is painted %s:\n%s", shade, painted)
		}
	}
}

// A chain that breaks is drawn as far as it came.
func TestWaterfallOfABrokenChain(t *testing.T) {
	t.Parallel()
	r, err := NewReport(chainOf(t, snapshottest.Setup(), func(hop string, st *snapshot.State) {
		if hop == snapshot.HopHPA {
			st.Desired = nil
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Paths) != 1 || r.Paths[0].Whole || len(r.Paths[0].Hops) != 4 {
		t.Fatalf("%+v", r.Paths)
	}
	golden.Compare(t, "testdata/waterfall-broken.txt", r.Waterfall(nil))
}

func TestCharts(t *testing.T) {
	t.Parallel()
	charts := (&Chain{}).Charts(chainOf(t, snapshottest.Setup(), nil))
	if len(charts) != 3 {
		t.Fatalf("%d charts, want those of up, down and the metric", len(charts))
	}
	for i, c := range charts {
		if c.Empty() || c.Title == "" || c.Note == "" {
			t.Errorf("chart %d: %+v", i, c)
		}
		golden.Compare(t, "testdata/"+[]string{"up", "down", "metric"}[i]+".svg", string(c.SVG()))
	}
	if got := (&Chain{}).Charts(nil); len(got) != 0 {
		t.Errorf("nothing is drawn as %+v", got)
	}
}
