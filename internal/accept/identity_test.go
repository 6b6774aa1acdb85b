package accept

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// The hardware of a cluster that was not identified is neither real nor simulated, in no
// file of the run.
func TestARunOfAnUnidentifiedClusterDoesNotSayRealHardware(t *testing.T) {
	t.Parallel()
	o := options(t, t.TempDir(), planOf("a"))
	o.Cluster = func(context.Context) (*kube.Cluster, error) { return nil, errors.New("no route") }
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(r.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]any{"report": r, "stored report": ReportOf(b), "summary": b.Summary()}
	for name, v := range files {
		data, err := json.Marshal(v)
		if err != nil || !strings.Contains(string(data), `"simulated":null`) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
	for name, want := range map[string]string{
		"run.json": `"simulated": null`, "verdicts.json": `"simulated": null`, "junit.xml": `name="simulated" value="not identified"`,
		"ctrf.json": `"testEnvironment": "not identified"`, "report.html": "NOT IDENTIFIED",
	} {
		data, err := os.ReadFile(filepath.Join(r.Evidence, name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s has no %s: %v", name, want, err)
		}
	}
}
