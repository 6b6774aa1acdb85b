package resources

import (
	rbacv1 "k8s.io/api/rbac/v1"
)

// Rules are the permissions that the check needs, in the whole cluster. Without the
// last of them it says as well what is not complete, but not why. Kinds other than
// those of workloads, which only expectedResources have, are not among them.
func Rules() []rbacv1.PolicyRule {
	rule := func(group, verb string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{verb}}
	}
	return []rbacv1.PolicyRule{
		rule("apps", "get", "daemonsets", "deployments", "statefulsets"),
		rule("batch", "get", "jobs"),
		rule("", "get", "namespaces"),
		rule("", "list", "nodes", "pods"),
	}
}
