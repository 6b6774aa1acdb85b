package telemetry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	l.Profile.Telemetry.RiseWithin.Value = 20 // s: the lab follows at once
	waitSeries(t, l, "", 16)                  // a lab is up before the first scrape of every exporter
	for name, c := range credentialsOfProxies(t) {
		t.Run("Credentials/"+name, func(t *testing.T) { testCredentials(t, l, c) })
	}
	t.Run("Rule", func(t *testing.T) { testRule(t, l) })
	t.Run("Shared", func(t *testing.T) {
		suite.RequireFault(t, "internal/gate/telemetry TestLive", "prometheus-shared")
		l.Retire() // the other cluster's series stay in Prometheus
		defer l.Fault(t, world.Fault{Kind: "prometheus-shared"})()
		testShared(t, l)
	})
}

// testRule follows an alert from a PrometheusRule to the receiver, which is notified only with consent.
func testRule(t *testing.T, l *labtest.Lab) {
	paging := *l.Site
	paging.Telemetry.Alert.PagesNobody = false
	before := sentTo(t, l, "on-call")
	j := observe(t, l, &paging, "live-unpaged")
	if after := sentTo(t, l, "on-call"); after != before {
		t.Errorf("without --page on-call was notified: %g notifications, before %g", after, before)
	}
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || !suspected(j, "receiver on-call") || !strings.Contains(j.Reason, "no alert is raised") {
		t.Errorf("without --page: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	t.Run("Paged", func(t *testing.T) {
		suite.Require(t, suite.All)
		j := observeWith(t, l, &paging, telemetry.Deps{RunID: "live-paged", Page: true})
		if after := sentTo(t, l, "on-call"); after <= before {
			t.Errorf("with --page on-call was not notified: %g notifications, before %g", after, before)
		}
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "the alert of a rule reached on-call") {
			t.Errorf("with --page: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("NotSelected", func(t *testing.T) {
		testRuleFault(t, l, *l.Site, "rules-not-selected", "PrometheusRule", "does not fire the alert of the run's rule")
	})
	t.Run("LabelDropped", func(t *testing.T) {
		testRuleFault(t, l, *l.Site, "alert-label-dropped", "Prometheus", `without its label severity="critical": no route leads to receiver on-call, it went to none`)
	})
}

// sentTo is the number of notifications to a receiver.
func sentTo(t *testing.T, l *labtest.Lab, receiver string) float64 {
	t.Helper()
	client, err := prom.Connect(l.Site.Reach.Alertmanager, l.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	n, _, err := prom.Alertmanager{Client: client}.Notifications(t.Context())
	if err != nil || n.ByReceiver == nil {
		t.Fatal(n, err)
	}
	return n.ByReceiver[receiver].Total["webhook"]
}

// testRuleFault requires that the gate fails with this suspect and message under a fault.
func testRuleFault(t *testing.T, l *labtest.Lab, quick site.Site, kind, suspect, message string) {
	t.Helper()
	suite.RequireFault(t, "internal/gate/telemetry TestLive", kind)
	defer l.Fault(t, world.Fault{Kind: kind})()
	quick.Telemetry.Alert.RuleWithin = site.Duration(10 * time.Second)
	if j := observe(t, l, &quick, "live-"+kind); j.Verdict != check.Failed || !suspected(j, suspect) || !strings.Contains(j.Reason, message) {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}

// testShared observes a Prometheus that has the series of two clusters.
func testShared(t *testing.T, l *labtest.Lab) {
	waitSeries(t, l, `{cluster!=""}`, 32)
	j := observe(t, l, l.Site, "live-shared")
	if j.Verdict != check.Failed || !suspected(j, "other-gpu-01") || !suspected(j, "other-gpu-02") {
		t.Errorf("without matchers: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	own := *l.Site
	own.Telemetry.Matchers = map[string]string{"cluster": "lab"}
	if j := observe(t, l, &own, "live-own"); j.Verdict != check.Passed || !strings.Contains(j.Reason, "16 GPU series") || !strings.Contains(j.Reason, "the alert of a rule reached on-call") {
		t.Errorf("with matchers: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	none := *l.Site
	none.Telemetry.Matchers = map[string]string{"cluster": "prod"}
	j = observe(t, l, &none, "live-none")
	if j.Verdict != check.Unobserved || !suspected(j, "telemetry.matchers") || !strings.Contains(j.Reason, `16 with cluster="lab", 16 with cluster="other"`) {
		t.Errorf("with matchers of no series: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	t.Run("Unresolved", func(t *testing.T) { // the last one: Alertmanager keeps the alert for minutes
		testRuleFault(t, l, own, "rules-frozen", "PrometheusRule", "still fires the alert of the run's rule")
	})
}

// waitSeries waits until Prometheus has this number of series.
func waitSeries(t *testing.T, l *labtest.Lab, selector string, want int) {
	t.Helper()
	p, err := prom.ConnectPrometheus(l.Site.Reach.Prometheus, nil, l.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	polltest.UntilNil(t, "the series of all GPUs", func() error {
		series, _, err := p.Query(t.Context(), telemetry.Metric+selector, time.Time{})
		if err == nil && len(series) != want {
			err = fmt.Errorf("%d series, want %d", len(series), want)
		}
		return err
	})
}

func suspected(j check.Judgement, suspect string) bool {
	for _, f := range j.Findings {
		if f.Suspect == suspect {
			return true
		}
	}
	return false
}

// observe runs the gate and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, s *site.Site, run string) check.Judgement {
	t.Helper()
	return observeWith(t, l, s, telemetry.Deps{RunID: run})
}

// observeWith is observe with further dependencies; the cluster is the lab's.
func observeWith(t *testing.T, l *labtest.Lab, s *site.Site, deps telemetry.Deps) check.Judgement {
	t.Helper()
	ctx, run := t.Context(), deps.RunID
	deps.Cluster = l.Open
	g := telemetry.New(s, l.Profile, deps)
	rec := &labtest.Recorder{T: t}
	began := time.Now()
	if err := g.Observe(ctx, rec); err != nil {
		t.Fatal(err)
	}
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(ctx, run); err != nil {
		t.Fatal(err)
	}
	l.RequireClean(t, run)
	j := g.Judge(rec.Observations())
	t.Logf("%s after %s: %s", j.Verdict, time.Since(began).Round(time.Second), j.Reason)
	return j
}
