package safety

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
	"github.com/firstlight/firstlight/internal/suite"
)

// ofEveryChange are the defects that are driven for every change.
var ofEveryChange = []defect{noFencing, expiryToFree, silentDrop}

// Each broken broker is detected by the intended checks.
func TestBrokenBrokersAreCaught(t *testing.T) {
	for _, c := range []struct {
		defect  defect
		checks  []string
		unruled bool // at an API server that lets it pass
	}{
		{defect: noFencing, checks: []string{"model"}},
		{defect: expiryToFree, checks: []string{"model", "history"}},
		{defect: tokenReused, checks: []string{"tokens", "history"}, unruled: true},
		{defect: tokenBack, checks: []string{"answers"}}, // the API server refuses it
		{defect: tokenBack, checks: []string{"tokens", "model"}, unruled: true},
		{defect: halfGroup, checks: []string{"groups"}},
		{defect: silentDrop, checks: []string{"waiters"}},
		{defect: fastClock, checks: []string{"in-time"}},
		{defect: lastWriterWins, checks: []string{"answers"}}, // the API server refuses it
		{defect: lastWriterWins, checks: []string{"model", "waiters"}, unruled: true},
		{defect: lostHistory, checks: []string{"history"}, unruled: true},
		{defect: takeKeepsToken, checks: []string{"answers"}}, // the API server refuses it
		{defect: takeKeepsToken, checks: []string{"tokens", "model", "history"}, unruled: true},
		{defect: takeFromTaker, checks: []string{"model", "history"}, unruled: true},
		{defect: backKeepsToken, checks: []string{"answers"}}, // the API server refuses it
		{defect: backKeepsToken, checks: []string{"model"}, unruled: true},
		{defect: limitless, checks: []string{"model"}},
		{defect: impoundToFree, checks: []string{"model", "history"}, unruled: true},
		{defect: dayUnfenced, checks: []string{"model"}},
	} {
		name := string(c.defect)
		if c.unruled {
			name += ", without the rules of the store"
		}
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(ofEveryChange, c.defect) {
				suite.Require(t, suite.All)
			}
			st := shared.Store(t)
			if c.unruled {
				st = withoutRules(t)
			}
			caught := map[string]int{}
			first := seed(t)
			for i := range uint64(enough) {
				d := drive(t, st, plan{
					Seed: first + i<<32, Ops: 400, Workers: 2, Actors: 8, Phases: 1, Together: 3,
					Defect: c.defect, Calm: true, Every: 1500 * time.Millisecond, Within: 10 * time.Minute,
				})
				for _, f := range d.judge() {
					caught[f.Check]++
				}
				if !slices.ContainsFunc(c.checks, func(check string) bool { return caught[check] == 0 }) {
					t.Logf("caught by %v in run %d", caught, i+1)
					return
				}
			}
			t.Errorf("not caught by %v; there is %v", c.checks, caught)
		})
	}
}

// enough runs of 400 operations hit on any of these defects.
const enough = 8

// withoutRules is a store of the test's own, which takes what the rules refuse.
func withoutRules(t *testing.T) *storetest.Store {
	t.Helper()
	st, err := storetest.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Stop(); err != nil {
			t.Error(err)
		}
	})
	client, err := dynamic.NewForConfig(st.Config)
	if err != nil {
		t.Fatal(err)
	}
	policies := client.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"})
	if err := policies.Delete(t.Context(), "reservations.firstlight.dev", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	u, err := crds.Get(t.Context(), "reservations.firstlight.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(u.Object, "spec", "versions")
	if err != nil {
		t.Fatal(err)
	}
	dropRules(versions)
	if err := unstructured.SetNestedSlice(u.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	kube, err := store.NewKube(st.Config)
	if err != nil {
		t.Fatal(err)
	}
	probe, err := kube.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "unruled"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crds.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.Until(t, "the rules to be gone", func() bool {
		return lowersToken(t.Context(), kube, probe.Name) && !storetest.PolicyActive(t.Context(), kube, probe.Name)
	})
	return st
}

// lowersToken tells that a reservation's token can be made lower.
func lowersToken(ctx context.Context, kube *store.Kube, name string) bool {
	for _, by := range []int64{2, -1} {
		r, err := kube.Get(ctx, name)
		if err != nil {
			return false
		}
		r.Status.Token += by
		if _, err := kube.Save(ctx, r); err != nil {
			return false
		}
	}
	return true
}

// dropRules removes every validation rule below a part of a definition.
func dropRules(part any) {
	switch part := part.(type) {
	case []any:
		for _, child := range part {
			dropRules(child)
		}
	case map[string]any:
		delete(part, "x-kubernetes-validations")
		for _, child := range part {
			dropRules(child)
		}
	}
}
