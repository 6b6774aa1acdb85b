package capacity

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/gate/node"
)

// Nodes are not added to an accepted run after a newer acceptance of its cluster that does not hold.
func TestANewerAcceptanceThatFailed(t *testing.T) {
	t.Parallel()
	s, _ := fixture(t)
	for name, tt := range map[string]struct {
		failed  string
		change  func(*evidence.Start)
		earlier bool
		want    bool
	}{
		"failed":             {theCluster, nil, false, true},
		"failed before":      {theCluster, nil, true, false},
		"passed":             {"", nil, false, false},
		"partial":            {s.NodeNames()[0], nil, false, false},
		"of another site":    {theCluster, func(s *evidence.Start) { s.Header.Site = "other" }, false, false},
		"of another cluster": {theCluster, func(s *evidence.Start) { s.Header.Cluster = "other" }, false, false},
		"one gate":           {theCluster, func(s *evidence.Start) { s.Header.Only = node.Name }, false, false},
		"an addition":        {theCluster, func(s *evidence.Start) { s.Header.AddedTo = "r" }, false, false},
		"drift":              {theCluster, func(s *evidence.Start) { s.Header.Command[1] = "drift" }, false, false},
	} {
		dir, clock := t.TempDir(), evidencetest.Clock()
		var other *evidence.Bundle
		if tt.earlier {
			other = runIn(t, dir, clock, tt.failed, tt.change)
		}
		b, err := BaseOf(runIn(t, dir, clock, "", nil))
		if err != nil {
			t.Fatal(err)
		}
		if !tt.earlier {
			other = runIn(t, dir, clock, tt.failed, tt.change)
		}
		err = b.Newer(t.TempDir(), dir)
		if (err != nil) != tt.want || err != nil && (!strings.Contains(err.Error(), other.Header.Run) || !strings.Contains(err.Error(), "repair")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
