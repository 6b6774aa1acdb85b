package validate

import (
	_ "embed"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/internal/validate/resources"
	"github.com/firstlight/firstlight/internal/validate/snapshot"
)

//go:embed rbac.yaml
var ownRules []byte

// RoleName of the ClusterRole.
const RoleName = "firstlight-validate"

// Role is the ClusterRole that a validation needs: the rules of the gates, of the checks, and
// of reading the components' health.
func Role(components []health.Component) (*rbacv1.ClusterRole, error) {
	gates, err := gate.Rules()
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: RoleName}, Rules: gates,
	}
	var own []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict(ownRules, &own); err != nil {
		return nil, fmt.Errorf("read the rules of a validation: %w", err)
	}
	role.Rules = append(role.Rules, own...)
	for _, more := range [][]rbacv1.PolicyRule{snapshot.Rules(), resources.Rules(), health.Rules(components), dra.Rules(), access.Rules()} {
		role.Rules = append(role.Rules, more...)
	}
	role.Rules = distinct(role.Rules)
	return role, nil
}

// distinct drops rules that earlier ones include. It keeps rules of named objects.
func distinct(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type grant struct{ group, resource, verb string }
	granted := map[grant]bool{}
	var out []rbacv1.PolicyRule
	for _, r := range rules {
		if len(r.ResourceNames) > 0 {
			out = append(out, r)
			continue
		}
		var fresh bool
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					g := grant{group, resource, verb}
					fresh = fresh || !granted[g]
					granted[g] = true
				}
			}
		}
		if fresh || len(r.NonResourceURLs) > 0 {
			out = append(out, r)
		}
	}
	return out
}
