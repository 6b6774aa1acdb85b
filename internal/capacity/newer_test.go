package capacity

import (
	"os"
	"path/filepath"
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
		// killed: the run has no manifest.
		killed bool
		want   bool
	}{
		"failed":                           {theCluster, nil, false, false, true},
		"failed before":                    {theCluster, nil, true, false, false},
		"interrupted after a failed gate":  {theCluster, nil, false, true, true},
		"interrupted without a failed one": {"", nil, false, true, false},
		"passed":                           {"", nil, false, false, false},
		"partial":                          {s.NodeNames()[0], nil, false, false, false},
		"of another site":                  {theCluster, func(s *evidence.Start) { s.Header.Site = "other" }, false, false, false},
		"of another cluster":               {theCluster, func(s *evidence.Start) { s.Header.Cluster = "other" }, false, false, false},
		"one gate":                         {theCluster, func(s *evidence.Start) { s.Header.Only = node.Name }, false, false, false},
		"an addition":                      {theCluster, func(s *evidence.Start) { s.Header.AddedTo = "r" }, false, false, false},
		"drift":                            {theCluster, func(s *evidence.Start) { s.Header.Command[1] = "drift" }, false, false, false},
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
		if tt.killed {
			if err := os.Remove(filepath.Join(other.Dir, evidence.ManifestFileName)); err != nil {
				t.Fatal(err)
			}
		}
		err = b.Newer(t.TempDir(), dir)
		if (err != nil) != tt.want || err != nil && (!strings.Contains(err.Error(), other.Header.Run) || !strings.Contains(err.Error(), "repair")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
