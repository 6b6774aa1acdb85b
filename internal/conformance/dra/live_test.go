package dra_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	t.Run("PassesAfterACrash", func(t *testing.T) { passesAfterACrash(t, l) })
	t.Run("SliceMissing", func(t *testing.T) {
		suite.RequireFault(t, "internal/conformance/dra TestLive", "dra-slice-missing")
		defer l.Fault(t, world.Fault{Kind: "dra-slice-missing", Target: "gpu-02"})()
		j, _ := observe(t, l, "live-slice")
		if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02" {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("GPUGone", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer l.Fault(t, world.Fault{Kind: "gpu-off-bus", Target: "gpu-01/gpu0"})()
		j, _ := observe(t, l, "live-gone")
		if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	for _, other := range []string{"device-leak", "claim-leaks-to-sibling"} {
		t.Run(other, func(t *testing.T) {
			suite.Require(t, suite.All)
			defer l.Fault(t, world.Fault{Kind: other})()
			if j, _ := observe(t, l, "live-"+other); j.Verdict != check.Passed {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
		})
	}
	for _, kind := range []string{"free-devices", "claim-with-a-pod"} {
		t.Run("Interrupted/"+kind, func(t *testing.T) {
			if kind != "claim-with-a-pod" {
				suite.Require(t, suite.All)
			}
			interrupted(t, l, kind)
		})
	}
	t.Run("LeastPrivilege", func(t *testing.T) {
		suite.Require(t, suite.All)
		const run = "live-least"
		c := newCheck(l.Guest(t, dra.Rules()), run)
		rec := &labtest.Recorder{}
		if err := c.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if j := c.Judge(rec.Observations()); j.Verdict != check.Passed {
			t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		requireOnlyPriority(t, l, run)
	})
	t.Run("Held", func(t *testing.T) {
		suite.Require(t, suite.All)
		l.Hold(t, "gpu-01", 1)
		j, _ := observe(t, l, "live-held")
		if j.Verdict != check.Passed {
			t.Fatalf("with a node whose GPUs the device plugin gives out: %s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		l.Hold(t, "gpu-02", 8)
		j, _ = observe(t, l, "live-full")
		if j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "pod default/occupant-") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
}

// stopper ends the context when an observation of a kind is recorded.
type stopper struct {
	labtest.Recorder
	kind string
	stop func()
}

func (s *stopper) Record(o check.Observation) (check.Observation, error) {
	if o.Kind == s.kind {
		s.stop()
	}
	return s.Recorder.Record(o)
}

// interrupted: the verdict is not a pass, and no claim is left.
func interrupted(t *testing.T, l *labtest.Lab, kind string) {
	run := "live-stop-" + kind
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec := &stopper{kind: kind, stop: cancel}
	c := newCheck(l, run)
	if err := c.Observe(ctx, rec); err == nil {
		t.Error("an interrupted check says nothing of it")
	}
	if j := c.Judge(rec.Observations()); j.Verdict == check.Passed {
		t.Errorf("an interrupted check passes: %s", j.Reason)
	}
	requireOnlyPriority(t, l, run)
}

// passesAfterACrash: objects of an earlier attempt of the same run do not block a new one;
// objects of another owner with the same name are kept.
func passesAfterACrash(t *testing.T, l *labtest.Lab) {
	const run = "live-again"
	namespaces := l.Cluster.Client.CoreV1().Namespaces()
	create := func(labels map[string]string) {
		t.Helper()
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: kube.NamespaceOf(run) + "-dra", Labels: labels}}
		if _, err := namespaces.Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(kube.Labels(run, ""))
	j, obs := observe(t, l, run)
	if j.Verdict != check.Passed {
		t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
	kept := check.OfKind(obs, apilog.Kind)
	if len(kept) != 1 || !strings.Contains(string(kept[0].Figures), "resourceclaimtemplates") {
		t.Error("the API calls are not recorded")
	}
	create(nil)
	rec := &labtest.Recorder{}
	if err := newCheck(l, run).Observe(t.Context(), rec); err == nil {
		t.Error("used a namespace of another owner")
	}
	if err := namespaces.Delete(t.Context(), kube.NamespaceOf(run)+"-dra", metav1.DeleteOptions{}); err != nil {
		t.Errorf("a namespace of another owner is missing: %v", err)
	}
}

func newCheck(l *labtest.Lab, run string) *dra.Check {
	return dra.New(l.Site, l.Profile, conformance.Deps{Cluster: l.Open, RunID: run, Timeout: time.Minute})
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, run string) (check.Judgement, []check.Observation) {
	t.Helper()
	c := newCheck(l, run)
	rec := &labtest.Recorder{}
	begin := time.Now()
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	j := c.Judge(rec.Observations())
	t.Logf("%s in %s: %s: %s", run, time.Since(begin).Round(time.Millisecond), j.Verdict, j.Reason)
	requireOnlyPriority(t, l, run)
	return j, rec.Observations()
}

// requireOnlyPriority fails unless the PriorityClass, which the cleanup of the run deletes, is
// the only object left of the run.
func requireOnlyPriority(t *testing.T, l *labtest.Lab, run string) {
	t.Helper()
	host := kube.Guest{Cluster: l.Cluster}
	left, err := host.LeftOf(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range left {
		if o.Kind != "PriorityClass" {
			t.Errorf("left: %+v", o)
		}
	}
	claims, err := l.Cluster.Client.ResourceV1().ResourceClaims(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) || len(claims.Items) > 0 {
		t.Errorf("claims are left: %d, %v", len(claims.Items), err)
	}
	if err := host.Cleanup(context.WithoutCancel(t.Context()), run); err != nil {
		t.Error(err)
	}
	l.RequireClean(t, run)
}
