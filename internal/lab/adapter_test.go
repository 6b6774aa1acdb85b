package lab

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// testAdapter adds prometheus-adapter: without it no metrics API is registered; after Ensure both
// are available.
func testAdapter(t *testing.T, r *running) {
	services := r.dyn.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	metrics := func() (names []string) {
		all, err := services.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all.Items {
			if strings.HasSuffix(s.GetName(), ".metrics.k8s.io") {
				status, message := conditionOf(&s, "Available")
				if status != "True" {
					t.Errorf("%s is available: %q: %s", s.GetName(), status, message)
				}
				names = append(names, s.GetName())
			}
		}
		return names
	}
	if got := metrics(); len(got) > 0 {
		t.Errorf("a lab without the adapter has %v", got)
	}
	if err := r.Ensure(t.Context(), []string{component.ExtraAdapter}); err != nil {
		t.Fatal(err)
	}
	if got := metrics(); len(got) != 2 {
		t.Errorf("metrics APIs %v, want two", got)
	}
}
