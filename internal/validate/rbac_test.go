package validate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firstlight/firstlight/internal/validate"
)

// Requests to the API server that the source makes are allowed by the role. Regression: metrics of
// a service that are discovered by PodMonitors were forbidden; no cluster of the tests has them.
func TestRoleAllowsTheRequestsOfTheSource(t *testing.T) {
	t.Parallel()
	role, err := validate.Role(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := []request{}
	for _, dir := range []string{"autoscale", "conformance", "gate", "pipeline", "plan", "probe/kube", "validate", "workload"} {
		if err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				all = append(all, requestsOf(t, path)...)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range all {
		if r.group == "authorization.k8s.io" { // allowed for every user
			continue
		}
		if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.APIGroups, r.group) && slices.Contains(rule.Resources, r.resource) && (r.verb == "" || slices.Contains(rule.Verbs, r.verb))
		}) {
			t.Errorf("%s: the role does not allow: %s %s/%s", r.at, r.verb, r.group, r.resource)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d requests were found: the search is broken", len(all))
	}
}
