package telemetry

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// The alert of a rule goes to every Alertmanager of Prometheus: where one is not named, its receivers are unknown,
// and they were notified without consent.
func TestNoRuleIsRaisedForUnnamedAlertmanagers(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]*api{
		"Prometheus sends to another": {alsoSent: "http://central"}, "the cluster has another member": {members: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, p := serve(t, a)
			g.telemetry.Alert.Through = site.ThroughRule
			objects := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{kube.PrometheusRules(): "PrometheusRuleList"})
			cluster := &kube.Cluster{Client: fake.NewClientset(), Dynamic: objects, Namespace: "theirs"}
			g.telemetry.Alert.RuleWithin, g.profile.AlertWithin.Value = 0, 0
			var rec recorder
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // raising waits for a service account that nothing makes
			defer cancel()
			if err := g.observeAlert(ctx, cluster, p, &rec); err != nil {
				t.Error(err)
			}
			for _, action := range objects.Actions() {
				if action.GetVerb() == "create" {
					t.Errorf("%+v", action)
				}
			}
			var b check.Builder
			g.judgeAlert(&b, rec.obs)
			if j := b.Judgement(""); j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Reason, "the site names 1") {
				t.Errorf("%+v", j)
			}
		})
	}
}

// A receiver that Prometheus' own labels lead to was notified until the watch was over.
func TestAnAlertOfAnotherReceiverTooEndsAtOnce(t *testing.T) {
	t.Parallel()
	a := &api{alsoRouted: "pager", retries: 1 << 30}
	g, p := serve(t, a)
	begun := time.Now()
	g.profile.AlertWithin.Value = 20 // s
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 10*time.Second || len(a.alerts) != 2 {
		t.Errorf("%d posts, it ended after %s", len(a.alerts), took)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if j := b.Judgement(""); j.Verdict != check.Failed || !strings.Contains(j.Reason, "went to pager too") {
		t.Errorf("%+v", j)
	}
}

// Alertmanager lists an alert as active whose route a time interval mutes; only its groups have the intervals.
func TestAMutedRouteIsFoundInTheGroups(t *testing.T) {
	t.Parallel()
	a := &api{muted: []string{"offhours"}}
	g, p := serve(t, a)
	g.profile.AlertWithin.Value = 20 // s
	begun := time.Now()
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if j := b.Judgement(""); j.Verdict != check.Failed || !strings.Contains(j.Reason, "muted by the time intervals [offhours]") {
		t.Errorf("%+v", j)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it ended after %s", took)
	}
}

// removal is a raiser that notes when its rule is removed.
type removal struct {
	raiser
	removed func()
}

func (*removal) end(context.Context) error { return nil }

func (*removal) endCommand() string { return "end" }

func (r *removal) remove(context.Context) error {
	r.removed()
	return nil
}

// Of two Prometheus servers, the second had not loaded the ended rule when the first had resolved its alert: it
// raised the alert again, for minutes, since the rule was removed at once.
func TestTheEndIsAwaitedAtEachPrometheus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		processes []string
		resends   int
		reads     int // before the rule is removed, at least
	}{
		"one Prometheus":       {[]string{"a"}, 0, 1},
		"two":                  {[]string{"a", "b"}, 0, int(resendWithin / alertEvery)},
		"two, one sends again": {[]string{"a", "b"}, 3, int(resendWithin/alertEvery) + 3},
		"not known":            {[]string{""}, 0, int(resendWithin / alertEvery)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{relisted: max(tt.resends, 1)}
			if tt.resends == 0 {
				a.endReads = 2 // never again
			}
			first := a.endReads
			g, p := serve(t, a)
			g.telemetry.Alert.Through = site.ThroughRule
			at := now()
			g.deps.Clock = hurried{at: &at}
			client, err := prom.Connect(g.reach.Alertmanager, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			var rec recorder
			atRemoval := 0
			fired := 1.0
			proof := &proof{
				Gate: g, way: way{ams: []prom.Alertmanager{{Client: client}}}, prometheus: p, rec: &rec, attempt: "1", fired: &fired, quiet: quietOf(tt.processes),
				raiser: &removal{removed: func() {
					a.mu.Lock()
					defer a.mu.Unlock()
					atRemoval = a.endReads - first
				}}, endsAt: now().Add(time.Hour),
			}
			if err := proof.finish(t.Context()); err != nil || len(rec.obs) != 1 {
				t.Fatalf("%+v, %v", rec.obs, err)
			}
			if atRemoval < tt.reads || atRemoval > tt.reads+2 {
				t.Errorf("the rule was removed after %d readings, want %d", atRemoval, tt.reads)
			}
			f, err := check.Decode[endFigures](rec.obs[0])
			if err != nil || len(f.ListedBy) > 0 || seconds(f.QuietSeconds) < quietOf(tt.processes) {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

func TestPartitionedGPUsAreUnobserved(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	s := *g.site
	s.GPUStack.MIG = &site.MIG{Strategy: site.MIGSingle, Devices: map[string]int{"1g.10gb": 56}}
	g = New(&s, g.hardware, Deps{})
	of(f.idle, func(s series) bool { return s.GPU == "0" })
	j := plan.Judge(g, f.observations(t))
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Remedy, "accept the GPUs before they are partitioned") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	found, err := g.SeriesDefects(t.Context(), prom.Prometheus{})
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "MIG") {
		t.Errorf("preflight: %+v, %v", found, err)
	}
}

// The prediction of the receivers lacked the labels that Prometheus adds: a central Alertmanager routes by cluster.
func TestExternalLabelsRouteTheAlert(t *testing.T) {
	t.Parallel()
	a := &api{external: "cluster: prod\n    severity: low"}
	g, p := serve(t, a)
	route, err := prom.ParseRoute([]byte(`{"config":{"original":"route: {receiver: default, routes: [{matchers: [cluster=prod, severity=critical], receiver: on-call}]}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for through, want := range map[string]string{site.ThroughRule: "on-call", site.ThroughAlertmanager: "default"} {
		g.telemetry.Alert.Through = through
		if got := g.EffectOfAlert(prom.Routing{Route: route}, g.ExternalLabels(t.Context(), p)).Reached; len(got) != 1 || got[0] != want {
			t.Errorf("through %s: %q, want %s", through, got, want)
		}
	}
}
