package labtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Guest returns the lab with a user that has only the given rules, until the test ends.
func (l *Lab) Guest(t *testing.T, rules []rbacv1.PolicyRule) *Lab {
	t.Helper()
	const name = "labtest-guest"
	api := l.Cluster.Client.RbacV1()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := api.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	if _, err := api.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := api.ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := api.ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	cfg := rest.CopyConfig(l.Cluster.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	cluster, err := kube.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	AwaitRules(t, cluster, "", rules)
	other := *l
	other.Cluster = cluster
	return &other
}

// AwaitRules returns when the API server allows the user of cluster what the rules of a new role allow
// in a namespace (empty: in all): on a busy machine its authorizer had not seen them at the first request
// of a test, which was forbidden.
func AwaitRules(t *testing.T, cluster *kube.Cluster, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	i := slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool { return len(r.Resources) > 0 && len(r.ResourceNames) == 0 })
	if i < 0 {
		return
	}
	attributes := &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rules[i].Verbs[0], Group: rules[i].APIGroups[0], Resource: rules[i].Resources[0]}
	if resource, sub, ok := strings.Cut(attributes.Resource, "/"); ok {
		attributes.Resource, attributes.Subresource = resource, sub
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := poll.Until(ctx, 50*time.Millisecond, "the rules of the guest", func(ctx context.Context) error {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		got, err := cluster.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && !got.Status.Allowed {
			err = fmt.Errorf("%s %s is not allowed yet: %s", attributes.Verb, attributes.Resource, got.Status.Reason)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
