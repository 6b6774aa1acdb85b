package controller_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/controller"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestLive is all that a lab is needed for: it is started once.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(1), component.ExtraTrainer)
	t.Run("PartiallyShown", func(t *testing.T) {
		suite.Require(t, suite.All)
		j, _ := observe(t, l, conformance.Deps{RunID: "live-partial"})
		if j.Verdict != check.Unobserved || !strings.HasPrefix(j.Reason, "partially shown: Kubeflow Trainer: ") || len(j.Findings) > 0 {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("NoWayToKill", func(t *testing.T) {
		suite.Require(t, suite.All)
		j, _ := observe(t, l, conformance.Deps{RunID: "live-no-way", Disruptive: true})
		if j.Verdict != check.Unobserved || !strings.HasPrefix(j.Reason, "partially shown: ") || !strings.Contains(j.Reason, "not a pod of this cluster") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("Passes", func(t *testing.T) {
		suite.Require(t, suite.All) // internal/e2e/validate shows it for every change
		j, obs := observe(t, l, conformance.Deps{RunID: "live-passes", Disruptive: true, KillOutside: l.Kill})
		if j.Verdict != check.Passed || !strings.Contains(j.Reason, "process") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		requireCalls(t, obs)
	})
	t.Run("ControllerIsAPod", func(t *testing.T) { testControllerIsAPod(t, l) })
	t.Run("NeverEnds", func(t *testing.T) {
		suite.Require(t, suite.All)
		operators, err := controller.Operators()
		if err != nil {
			t.Fatal(err)
		}
		operators[0].Work = controller.Work{Plain: 3600, Killed: 7200}
		j, _ := observe(t, l, conformance.Deps{RunID: "live-never", Timeout: 20 * time.Second}, operators...)
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "it is not Complete after 20s (it has not ended 20s after its creation)") || !strings.Contains(j.Reason, "is Running") || len(j.Findings) != 1 {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
	t.Run("NobodyDenies", func(t *testing.T) {
		withoutWebhook(t, l)
		j, _ := observe(t, l, conformance.Deps{RunID: "live-nobody"})
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "nothing denies") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
		admitted := false
		for _, f := range j.Findings {
			admitted = admitted || strings.Contains(f.Message, "was admitted")
		}
		if !admitted {
			t.Errorf("no finding says that the invalid one was admitted: %+v", j.Findings)
		}
	})
	t.Run("NoOperator", func(t *testing.T) {
		operators, err := controller.Operators()
		if err != nil {
			t.Fatal(err)
		}
		operators[0].Definitions = []string{"nothings.example.com"}
		j, _ := observe(t, l, conformance.Deps{RunID: "live-none"}, operators...)
		if j.Verdict != check.Failed || !strings.Contains(j.Reason, "not found; looked for Kubeflow Trainer (nothings.example.com)") {
			t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
		}
	})
}

// observe runs the check and judges it from what it recorded.
func observe(t *testing.T, l *labtest.Lab, deps conformance.Deps, operators ...controller.Operator) (check.Judgement, []check.Observation) {
	t.Helper()
	begin := time.Now()
	deps.Cluster = l.Open
	c := controller.New(l.Site, l.Profile, deps)
	if len(operators) > 0 {
		c.SetOperators(operators)
	}
	rec := &labtest.Recorder{}
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	pods, err := l.Cluster.Client.CoreV1().Pods(kube.NamespaceOf(deps.RunID)).List(t.Context(), metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + deps.RunID})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(pods.Items), err)
	}
	if err := (kube.Guest{Cluster: l.Cluster}).Cleanup(t.Context(), deps.RunID); err != nil {
		t.Error(err)
	}
	l.RequireClean(t, deps.RunID)
	j := c.Judge(rec.Observations())
	t.Logf("after %s: %s: %s", time.Since(begin).Round(time.Second/10), j.Verdict, j.Reason)
	return j, rec.Observations()
}

// requireCalls proves that what was called is kept, as it was called.
func requireCalls(t *testing.T, obs []check.Observation) {
	t.Helper()
	kept := check.OfKind(obs, apilog.Kind)
	if len(kept) != 1 {
		t.Fatalf("%d records of calls, want one", len(kept))
	}
	made, err := check.Decode[[]apilog.Call](kept[0])
	if err != nil {
		t.Fatal(err)
	}
	posts := map[int]int{} // of TrainJobs, by their answer
	for _, c := range made {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/trainjobs") {
			posts[c.Status] += c.Times
		}
	}
	if posts[201] != 2 || posts[403] != 1 || posts[422] != 1 {
		t.Errorf("TrainJobs were posted with the answers %v, want two made, one forbidden, one invalid", posts)
	}
}

// withoutWebhook takes the operator's webhooks away until the test ends.
func withoutWebhook(t *testing.T, l *labtest.Lab) {
	t.Helper()
	client := l.Cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	const name = "validator.trainer.kubeflow.org"
	old, err := client.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: old.Webhooks}
		if _, err := client.Create(context.WithoutCancel(t.Context()), again, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
}
