package checktest

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// A rule about a field that the judge does not read states nothing.
func TestSetOfAnUnknownKeyIsRefused(t *testing.T) {
	t.Parallel()
	type disk struct {
		Worn bool `json:"worn,omitempty"`
	}
	type figures struct {
		Name   string            `json:"name"`
		Broken bool              `json:"broken,omitempty"`
		Why    *string           `json:"why,omitempty"`
		Disks  []disk            `json:"disks"`
		Notes  []string          `json:"notes,omitempty"`
		Labels map[string]string `json:"labels"`
	}
	o, err := check.Observation{Kind: "gpu", Target: "gpu-01"}.WithFigures(figures{Name: "a", Disks: []disk{{}}, Labels: map[string]string{}})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(obs []check.Observation) check.Judgement {
		if _, _, err := check.One[figures](obs, "gpu"); err != nil {
			return check.NotObserved(err.Error())
		}
		return check.Pass("read")
	}
	for path, known := range map[string]bool{
		".name": true, ".broken": true, ".why": true, ".notes": true, ".disks[0].worn": true, ".labels.zone": true,
		".borken": false, ".disks[0].wron": false, ".disks[*].name": false,
	} {
		if got := Set("gpu", path, nil).known(t, judge, []check.Observation{o}); got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
