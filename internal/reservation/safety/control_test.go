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

	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/storetest"
	"github.com/firstlight/firstlight/internal/suite"
)

// ofEveryChange are the defects that are driven for every change.
var ofEveryChange = []defect{noFencing, expiryToFree, silentDrop, takeKeepsToken, backKeepsToken}

// Brokers that were broken on purpose are caught, each by the checks that are there
// for it.
func TestBrokenBrokersAreCaught(t *testing.T) {
	for _, c := range []struct {
		defect  defect
		checks  []string
		unruled bool // at an API server that lets it pass
	}{
		{defect: noFencing, checks: []string{"model"}},
		{defect: expiryToFree, checks: []string{"model", "history"}},
		{defect: tokenReused, checks: []string{"tokens", "history"}},
		{defect: tokenBack, checks: []string{"answers"}}, // the API server refuses it
		{defect: tokenBack, checks: []string{"tokens", "model"}, unruled: true},
		{defect: halfGroup, checks: []string{"groups"}},
		{defect: silentDrop, checks: []string{"waiters"}},
		{defect: fastClock, checks: []string{"in-time"}},
		{defect: lastWriterWins, checks: []string{"model", "waiters"}},
		{defect: lostHistory, checks: []string{"history"}},
		{defect: takeKeepsToken, checks: []string{"tokens", "model", "history"}},
		{defect: takeFromTaker, checks: []string{"model", "history"}},
		{defect: backKeepsToken, checks: []string{"model"}},
		{defect: limitless, checks: []string{"model"}},
		{defect: impoundToFree, checks: []string{"model", "history"}},
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
				withoutRules(t, st)
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

// withoutRules lets the store take what its rules refuse, while the test lasts.
func withoutRules(t *testing.T, st *storetest.Store) {
	t.Helper()
	client, err := dynamic.NewForConfig(st.Config)
	if err != nil {
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
	unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "status", "x-kubernetes-validations")
	if err := unstructured.SetNestedSlice(u.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	if _, err := crds.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Install(context.WithoutCancel(t.Context()), st.Config); err != nil {
			t.Error(err)
		}
	})
	kube, err := store.NewKube(st.Config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := kube.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: "unruled"}})
	if err != nil {
		t.Fatal(err)
	}
	r.Status.Token = 1 << 40
	storetest.Until(t, "the rules to be gone", func() bool {
		r.Status.Token--
		saved, err := kube.Save(t.Context(), r)
		if err == nil && r.Status.Token < 1<<40-1 {
			return true
		}
		if err == nil {
			r = saved
		}
		return false
	})
}
