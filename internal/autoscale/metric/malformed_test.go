package metric

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// TestAMalformedExporterIsAProblem: exporters are read in goroutines, and one
// that answers what the parser does not expect must not end the process.
func TestAMalformedExporterIsAProblem(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write([]byte("{}")); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	pod := exporterPod{node: "gpu-01"}
	s := &Sampler{
		c: Config{Clock: clock.RealClock{}}, forwards: newForwards(nil), changed: make(chan struct{}, 1),
		pods: []exporterPod{pod}, problems: map[string]string{},
	}
	s.forwards.open["gpu-01"] = opened{pod: pod, address: strings.TrimPrefix(server.URL, "http://"), stop: func() {}}
	s.readNodes(t.Context(), []string{"gpu-01"}, func(prom.Sample) bool { return true })
	if said := s.problems[snapshot.ProblemExporter+"/gpu-01"]; !strings.Contains(said, "the parser panicked") {
		t.Errorf("problems: %v", s.problems)
	}
}
