package evidence

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
)

// Figures of one cluster were compared with the baseline of another one with the same site name.
func TestABaselineOfAnotherClusterFailsVerify(t *testing.T) {
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	b, err := evidence.Load(simulatedRun(t))
	if err != nil {
		t.Fatal(err)
	}
	s, p, err := accept.Used(b)
	if err != nil {
		t.Fatal(err)
	}
	for name, cluster := range map[string]string{"the same": b.Header.Cluster, "another": another} {
		b.Inputs = map[string][]byte{drift.InputFile: []byte(`{"format": 1, "run": "r", "cluster": "` + cluster + `", "figures": [{"name": "f", "values": [1]}]}`)}
		d, err := deriveDrift(b, s, p)
		if err != nil {
			t.Fatal(err)
		}
		refused := len(d.Problems) == 1 && strings.Contains(d.Problems[0].Message, "of cluster "+another)
		if refused != (name == "another") || len(d.Problems) > 0 != refused {
			t.Errorf("%s: %v", name, d.Problems)
		}
	}
}
