package judge

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
)

// Nodes whose pods ended at 39 s are removed within 26 s by the settings, and within 5 minutes more
// if Karpenter has to consider an unchanged cluster again.
func TestDelayOfARemovalByKarpentersRecheck(t *testing.T) {
	t.Parallel()
	const settings, most = 39 + 26, 39 + 26 + 300
	for name, tt := range map[string]struct {
		at         float64
		autoscaler string
		says       string // empty: no delay is explained
	}{
		"by the settings":    {settings, "karpenter", ""},
		"longer":             {settings + 1, "karpenter", "1.0 s longer than its settings explain"},
		"at most":            {most, "karpenter", "300.0 s longer than its settings explain"},
		"longer than both":   {most + 1, "karpenter", ""},
		"another autoscaler": {settings + 1, "cluster-autoscaler", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judged := func(change func(*snapshot.State)) Result {
				s, st := snapshottest.Setup(), snapshottest.Until(snapshot.PhaseDown)
				s.Pool.Autoscaler, st.At = tt.autoscaler, at(tt.at)
				change(&st)
				return Hop(snapshot.HopNodesGone, s, st)
			}
			gone := judged(func(st *snapshot.State) {
				nodeNamed(st, "node-c").Deleted = at(tt.at)
			})
			stay := judged(func(st *snapshot.State) { stays(st) })
			if gone.Verdict != check.Passed || stay.Verdict != check.Failed || len(stay.Findings) != 1 {
				t.Fatalf("%+v\n%+v", gone, stay)
			}
			for _, text := range []string{gone.Reason, stay.Findings[0].Message} {
				if !strings.Contains(text, tt.says) || strings.Contains(text, "only after 5 minutes") != (tt.says != "") {
					t.Errorf("%q, want %q", text, tt.says)
				}
			}
			if strings.Contains(stay.Reason, "no known reason") != (tt.says == "") {
				t.Errorf("%q for a node that stays", stay.Reason)
			}
		})
	}
}

// A node whose pods have not ended has no such delay.
func TestNoRecheckWithoutAnEnd(t *testing.T) {
	t.Parallel()
	s, st := snapshottest.Setup(), snapshottest.Until(snapshot.PhaseDown)
	stays(&st)
	st.At = at(100)
	podNamed(&st, "worker-c").Life = life(24)
	for _, f := range Hop(snapshot.HopNodesGone, s, st).Findings {
		if strings.Contains(f.Message, "5 minutes") {
			t.Errorf("%q", f.Message)
		}
	}
}
