package health

import (
	"cmp"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Rules are the permissions that the check of components needs, in the whole cluster:
// get for objects that their assertions name, list for objects that they select. Reads of
// expressions (x_k8s_get and similar functions) are not included.
func Rules(components []Component) []rbacv1.PolicyRule {
	type resource struct{ group, plural string }
	verbs := map[resource]map[string]bool{}
	for _, c := range components {
		l := load(c)
		for _, op := range l.operations() {
			if op.Resource.GetKind() == "" {
				continue
			}
			plural, _ := meta.UnsafeGuessKindToResource(op.Resource.GroupVersionKind())
			key, verb := resource{plural.Group, plural.Resource}, "get"
			if op.Resource.GetName() == "" {
				verb = "list"
			}
			if verbs[key] == nil {
				verbs[key] = map[string]bool{}
			}
			verbs[key][verb] = true
		}
	}
	var out []rbacv1.PolicyRule
	for _, r := range slices.SortedFunc(maps.Keys(verbs), func(a, b resource) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.plural, b.plural))
	}) {
		out = append(out, rbacv1.PolicyRule{APIGroups: []string{r.group}, Resources: []string{r.plural}, Verbs: slices.Sorted(maps.Keys(verbs[r]))})
	}
	return out
}
