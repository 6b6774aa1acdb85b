package fanout

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule"
)

func publication() Publication {
	return Publication{Namespace: "ns", Name: "recipes-run-1", RunID: "run", Job: "recipes-run", JobUID: "uid", Shard: 1, Shards: 2, Tool: "1.4.0"}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	first, second := reportOf("a"), reportOf("a", "b")
	for _, r := range []schedule.Report{first, second} { // the second try's report replaces the first's
		if err := publication().Publish(t.Context(), client, r); err != nil {
			t.Fatal(err)
		}
	}
	m, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "recipes-run-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := defaultLimits.unseal(m)
	if err != nil || s.Shard != 1 || s.Run != "run" || len(s.Report.Recipes) != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
	if !owned(m, "uid") || m.Labels[LabelShard] != "1" {
		t.Errorf("owners %v, labels %v", m.OwnerReferences, m.Labels)
	}
}

func TestPublishTouchesNothingElse(t *testing.T) {
	t.Parallel()
	for name, existing := range map[string]metav1.ObjectMeta{
		"no label":    {},
		"another run": {Labels: labels("other", roleReport), OwnerReferences: owner("recipes-run", "uid")},
		"another Job": {Labels: labels("run", roleReport), OwnerReferences: owner("recipes-run", "other")},
		"no owner":    {Labels: labels("run", roleReport)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			existing.Name, existing.Namespace = "recipes-run-1", "ns"
			client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: existing, Data: map[string]string{"theirs": "x"}})
			if err := publication().Publish(t.Context(), client, reportOf("a")); !errors.Is(err, errNotOurs) {
				t.Errorf("got %v", err)
			}
			m, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), existing.Name, metav1.GetOptions{})
			if err != nil || m.Data["theirs"] != "x" || len(m.Data) != 1 {
				t.Errorf("it is now %v, %v", m, err)
			}
		})
	}
}

func TestPublishRetriesUntilItGetsAnAnswer(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "configmaps"}
	for name, tt := range map[string]struct {
		err   error
		tries int
		good  bool
	}{
		"a server that restarts": {apierrors.NewServiceUnavailable("restarting"), 3, true},
		"a connection that ends": {errors.New("connection reset"), 3, true},
		"a write at one time":    {apierrors.NewConflict(resource, "x", errors.New("changed")), 3, true},
		"not allowed":            {apierrors.NewForbidden(resource, "x", errors.New("no role")), 1, false},
		"too large":              {apierrors.NewRequestEntityTooLargeError("3 MiB"), 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			tries := 0
			client.PrependReactor("create", "configmaps", func(k8stesting.Action) (bool, runtime.Object, error) {
				if tries++; tries <= 2 {
					return true, nil, tt.err
				}
				return false, nil, nil
			})
			err := publication().Publish(t.Context(), client, reportOf("a"))
			if (err == nil) != tt.good || tries != tt.tries {
				t.Errorf("%d tries, %v", tries, err)
			}
			if err != nil && !strings.Contains(err.Error(), "ns/recipes-run-1") {
				t.Errorf("it does not say where: %v", err)
			}
		})
	}
}

func TestParsePublication(t *testing.T) {
	t.Parallel()
	p, err := ParsePublication("ns/recipes-run-1", "run", "recipes-run/uid")
	if err != nil || p.Namespace != "ns" || p.Name != "recipes-run-1" || p.Job != "recipes-run" || p.JobUID != "uid" || p.RunID != "run" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range [][3]string{
		{"", "run", "j/u"}, {"name", "run", "j/u"}, {"/name", "run", "j/u"}, {"ns/", "run", "j/u"}, {"ns/a/b", "run", "j/u"},
		{"ns/n", "", "j/u"}, {"ns/n", "run", ""}, {"ns/n", "run", "j"}, {"ns/n", "run", "j/"}, {"ns/n", "run", "/u"},
	} {
		if _, err := ParsePublication(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestWorthAnotherTry(t *testing.T) {
	t.Parallel()
	with := func(verdicts ...check.Verdict) schedule.Report {
		var r schedule.Report
		for _, v := range verdicts {
			r.Recipes = append(r.Recipes, schedule.Result{Verdict: v})
		}
		return r
	}
	for name, tt := range map[string]struct {
		report schedule.Report
		want   bool
	}{
		"all passed":                    {with(check.Passed, check.Passed), false},
		"all failed":                    {with(check.Failed), false},
		"one could not be observed":     {with(check.Unobserved, check.Passed), false},
		"nothing could be observed":     {with(check.Unobserved, check.Unobserved), true},
		"no recipe: nothing to observe": {with(), true},
	} {
		if got := ShouldRetry(tt.report); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
