package autoscale

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// The pods have the whole patch of the site only in the namespace that the site's objects are in.
func TestPatchesInANamespaceOfTheRunAreTolerations(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("site.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	s.Workloads.Pod = map[string]any{"spec": map[string]any{"tolerations": []any{map[string]any{"key": "sku"}}, "serviceAccountName": "site"}}
	for namespace, fields := range map[string]int{"": 1, "team": 2} {
		d := &drive{chain: &Chain{site: s, profile: &profile.Profile{}, opts: Options{Stay: true}}, cluster: &kube.Cluster{Namespace: namespace}}
		if err := d.planPool(); err != nil {
			t.Fatal(err)
		}
		if p := d.values.Patches; len(p) != 1 || len(p[0]["spec"].(map[string]any)) != fields {
			t.Errorf("namespace %q: %v", namespace, p)
		}
	}
}
