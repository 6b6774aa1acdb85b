package resources

import (
	rbacv1 "k8s.io/api/rbac/v1"
)

// Rules are the permissions that the check needs, in the whole cluster. Without the
// last one the check still finds incomplete objects, but not the cause. Kinds other than
// workloads, which only expectedResources have, are not included.
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
