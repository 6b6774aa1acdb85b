package validate

import (
	_ "embed" // the rules
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/conformance/access"
	"github.com/firstlight/firstlight/internal/conformance/dra"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/validate/health"
	"github.com/firstlight/firstlight/internal/validate/resources"
)

//go:embed rbac.yaml
var ownRules []byte

// RoleName is what the ClusterRole is called.
const RoleName = "firstlight-validate"

// Role is the ClusterRole that a validation needs: the rules of a walk of the gates,
// those of the checks, and what the health of the components is read from.
func Role(components []health.Component) (*rbacv1.ClusterRole, error) {
	walk, err := gate.Rules()
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: RoleName}, Rules: walk,
	}
	var own []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict(ownRules, &own); err != nil {
		return nil, fmt.Errorf("read the rules of a validation: %w", err)
	}
	role.Rules = append(role.Rules, own...)
	for _, more := range [][]rbacv1.PolicyRule{resources.Rules(), health.Rules(components), dra.Rules(), access.Rules()} {
		role.Rules = append(role.Rules, more...)
	}
	role.Rules = distinct(role.Rules)
	return role, nil
}

// distinct are rules without what another gives already. Rules of named objects are kept.
func distinct(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type grant struct{ group, resource, verb string }
	given := map[grant]bool{}
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
					fresh = fresh || !given[g]
					given[g] = true
				}
			}
		}
		if fresh || len(r.NonResourceURLs) > 0 {
			out = append(out, r)
		}
	}
	return out
}
