package inference_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/inference"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	defer suite.Share(t, "mpi-operator")() // its port is that of the check's Gateway
	l := labtest.Start(t, world.DefaultSpec(1), component.ExtraGateway)
	t.Run("Passes", func(t *testing.T) {
		j, obs := observe(t, l, "live-passes", time.Minute)
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "with a GPU each") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		if len(check.OfKind(obs, apilog.Kind)) != 1 {
			t.Error("the API calls are not recorded")
		}
	})
	for fault, says := range map[string]string{
		"gateway-not-programmed": "gateway firstlight-live-gateway-not-programmed-inference/conformance: it is not Programmed",
		"route-ignores-weights":  "the first backend answered 400 of 400",
		"route-ignores-headers":  "with the header OpenAI-Project went to another backend",
	} {
		t.Run(fault, func(t *testing.T) {
			suite.RequireFault(t, "internal/conformance/inference TestLive", fault)
			defer l.Fault(t, world.Fault{Kind: fault})()
			j, _ := observe(t, l, "live-"+fault, 10*time.Second)
			if j.Verdict != check.Failed || !strings.Contains(j.Reason, says) || len(j.Findings) != 1 {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
	t.Run("OneGPU", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Hold(t, l.Site.Inventory.Nodes[0].Name, 7)
		j, _ := observe(t, l, "live-one", time.Minute)
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "scripts replaced the model servers") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("Interrupted", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		rec := &stopper{Recorder: labtest.Recorder{T: t}, at: "sending requests to the gateway", stop: stop}
		c := inference.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: "live-interrupted"})
		if err := c.Observe(ctx, rec); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		requireClean(t, l, "live-interrupted")
		if j := c.Judge(rec.Observations()); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s", j.Verdict, j.Reason)
		}
	})
	t.Run("NoClass", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Retire() // it has no class any more
		if err := l.Cluster.Dynamic.Resource(gatewayAPI("gatewayclasses")).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		j, _ := observe(t, l, "live-none", time.Second)
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "no gatewayclasses of") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
}

// stopper ends what it watches when that says something.
type stopper struct {
	labtest.Recorder
	at   string
	stop func()
}

func (s *stopper) Progress(format string, args ...any) {
	s.Recorder.Progress(format, args...)
	if strings.HasPrefix(format, s.at) {
		s.stop()
	}
}

// requireClean fails the test when more is left of a run than its PriorityClass.
func requireClean(t *testing.T, l *labtest.Lab, run string) {
	t.Helper()
	left, err := kube.Guest{Cluster: l.Cluster}.LeftOf(t.Context(), run)
	left = slices.DeleteFunc(left, func(o kube.Leftover) bool { return o.Kind == "PriorityClass" })
	if err != nil || len(left) > 0 {
		t.Errorf("left of %s: %+v, %v", run, left, err)
	}
	for _, kind := range []string{"gateways", "httproutes"} {
		list, err := l.Cluster.Dynamic.Resource(gatewayAPI(kind)).List(t.Context(), metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + run})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("%s left of %s: %v, %v", kind, run, list, err)
		}
	}
}

func gatewayAPI(kind string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: kind}
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, run string, patience time.Duration) (check.Judgement, []check.Observation) {
	t.Helper()
	c := inference.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run, Timeout: patience})
	rec := &labtest.Recorder{T: t}
	began := time.Now()
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	requireClean(t, l, run)
	j := c.Judge(rec.Observations())
	t.Logf("%s after %s: %s", j.Verdict, time.Since(began).Round(time.Millisecond), j.Reason)
	for _, f := range j.Findings {
		t.Logf("%s: %s", f.Suspect, f.Message)
	}
	return j, rec.Observations()
}
