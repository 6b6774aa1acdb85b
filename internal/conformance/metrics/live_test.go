package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/metrics"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	if l.Site.Telemetry.ScrapeInterval > site.Duration(2*time.Second) {
		t.Fatalf("the lab is scraped every %s", l.Site.Telemetry.ScrapeInterval.D())
	}
	l.Profile.Telemetry.RiseWithin.Value = 20 // s: the lab follows at once
	t.Run("Passes", func(t *testing.T) {
		suite.Require(t, suite.All) // internal/e2e/validate shows it for every change
		j, _ := observe(t, l, "live-passes")
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "16 followed the load, 8 stayed quiet") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("ExporterDown", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/metrics TestLive", "exporter-down")
		defer l.Fault(t, world.Fault{Kind: "exporter-down", Target: "gpu-02"})()
		fails(t, l, "live-down", "gpu-02")
	})
	t.Run("OneGPU", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Hold(t, "gpu-01", 8)
		l.Hold(t, "gpu-02", 7)
		j, _ := observe(t, l, "live-one")
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "15 were in use") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	// The last one: its series stay in Prometheus for five minutes.
	t.Run("Stale", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/metrics TestLive", "stale-series")
		l.Retire()
		defer l.Fault(t, world.Fault{Kind: "stale-series", Target: "gpu-01"})()
		fails(t, l, "live-stale", "gpu-01")
	})
}

func fails(t *testing.T, l *labtest.Lab, run, suspect string) {
	t.Helper()
	j, obs := observe(t, l, run)
	if j.Verdict != check.Failed || len(j.Findings) == 0 {
		t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	if len(check.OfKind(obs, apilog.Kind)) != 1 {
		t.Error("the API calls are not recorded")
	}
	for _, f := range j.Findings {
		if !strings.HasPrefix(f.Suspect, suspect) {
			t.Errorf("%+v", f)
		}
	}
	t.Log(j.Reason)
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, run string) (check.Judgement, []check.Observation) {
	t.Helper()
	c := metrics.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run})
	rec := &labtest.Recorder{}
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	return c.Judge(rec.Observations()), rec.Observations()
}
