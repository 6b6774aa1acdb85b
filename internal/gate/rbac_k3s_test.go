package gate_test

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/site"
)

// Spine k3s alone reads the packaged components, in kube-system.
func TestRolesOfK3s(t *testing.T) {
	t.Parallel()
	lists := func(rules []rbacv1.PolicyRule, resource string) bool {
		return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, resource) && slices.Equal(r.Verbs, []string{"list"}) && len(r.ResourceNames) == 0
		})
	}
	for spine, want := range map[string]bool{site.SpineK3s: true, site.SpineKubernetes: false} {
		s, err := site.Parse("example", site.Example())
		if err != nil {
			t.Fatal(err)
		}
		s.Spine = spine
		system := rbac(t, s, gate.Allowed{Gates: []string{gpustack.Name}, Namespace: "runs"}).rules["kube-system"]
		for _, resource := range []string{"deployments", "daemonsets", "jobs"} {
			if lists(system, resource) != want {
				t.Errorf("spine %s: %s of kube-system can be listed: %v, want %v", spine, resource, !want, want)
			}
		}
		if of := rbac(t, s, gate.Allowed{Gates: []string{"fabric"}, Namespace: "runs"}).rules["kube-system"]; len(of) > 0 {
			t.Errorf("spine %s: gate fabric needs nothing of kube-system: %+v", spine, of)
		}
	}
}
