package trial

import rbacv1 "k8s.io/api/rbac/v1"

// Rules are the permissions that finding room and running pods take. What is
// created or deleted is only ever in namespaces of the run; these are new with every
// run, so that no Role can name them.
func Rules() []rbacv1.PolicyRule {
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	return []rbacv1.PolicyRule{
		rule("", []string{"nodes"}, "list"),
		rule("", []string{"pods"}, "get", "list", "create", "deletecollection"),
		rule("", []string{"namespaces"}, "get", "create", "delete"),
		rule("", []string{"serviceaccounts"}, "list", "watch"),
		rule("scheduling.k8s.io", []string{"priorityclasses"}, "create"),
		rule("resource.k8s.io", []string{"resourceslices"}, "list"),
		rule("resource.k8s.io", []string{"resourceclaims"}, "get", "list"),
		rule("resource.k8s.io", []string{"resourceclaimtemplates"}, "create"),
	}
}
