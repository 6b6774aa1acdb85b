package dra

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
)

// Rules are the permissions that the check needs, in the whole cluster.
func Rules() []rbacv1.PolicyRule {
	return append(trial.Rules(), rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{"deviceclasses"}, Verbs: []string{"get"}})
}
