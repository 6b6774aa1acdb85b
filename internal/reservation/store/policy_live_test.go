package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// as is the store as another user sees it, who may write statuses; operators may operate.
func as(t *testing.T, user string, verbs ...string) *store.Kube {
	t.Helper()
	client, err := kubernetes.NewForConfig(shared.Store(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"firstlight.dev"}, Resources: []string{"reservations"}, Verbs: append([]string{"get", "list", "watch"}, verbs...)},
		{APIGroups: []string{"firstlight.dev"}, Resources: []string{"reservations/status"}, Verbs: []string{"update"}},
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "policy-"}, Rules: rules}
	if role, err = client.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(shared.Store(t).Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	k, err := store.NewKube(config)
	if err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the roles of "+user, func() error { // an API server reads roles by a watch
		_, err := k.List(t.Context())
		operates, errOp := newClient(t, config).Operates(t.Context(), "any")
		if err == nil && errOp == nil && operates == (len(verbs) > 0) {
			return nil
		}
		return errors.Join(err, errOp, fmt.Errorf("operates is %t", operates))
	})
	return k
}

// newClient returns a new client: permissions are cached.
func newClient(t *testing.T, config *rest.Config) *store.Kube {
	t.Helper()
	k, err := store.NewKube(config)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The API server itself keeps the lease of a user from others, and the history honest,
// whatever program writes.
func TestTheStoreKnowsWhoWrites(t *testing.T) {
	admins := shared.Kube(t)
	ada, eve, ops := as(t, "ada@example.com"), as(t, "eve@example.com"), as(t, "ops@example.com", "operate")
	if user, err := eve.Caller(t.Context()); err != nil || user != "eve@example.com" {
		t.Fatalf("eve is %q, %v", user, err)
	}
	name := reservation(t, admins).Name
	write := func(k *store.Kube, signed string, f func(r *lease.Record) error) error {
		r, err := k.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		before := r.Status.Events
		if err := f(&r.Status.Record); err != nil {
			t.Fatal(err)
		}
		r.Status.Sign(before, signed)
		_, err = k.Save(t.Context(), r)
		return err
	}
	now := time.Now()
	acquire := func(r *lease.Record) error {
		r.Enqueue(lease.Ticket{ID: "1", Holder: "ada@desk", User: "ada@example.com", RenewInterval: lease.Duration(time.Minute)}, now)
		_, err := r.Claim("1", now)
		return err
	}
	release := func(r *lease.Record) error { return r.Release(r.Token, true, "done", now) }
	renew := func(r *lease.Record) error { _, err := r.Renew(r.Token, now); return err }
	for _, step := range []struct {
		what   string
		by     *store.Kube
		signed string
		do     func(r *lease.Record) error
		says   string
	}{
		{"eve acquires in ada's name", eve, "ada@example.com", acquire, "must name the user"},
		{"eve acquires for ada", eve, "eve@example.com", acquire, "claimed by its user"},
		{"ada acquires", ada, "ada@example.com", acquire, ""},
		{"eve releases", eve, "eve@example.com", release, "by its holder or an operator"},
		{"eve releases in ada's name", eve, "ada@example.com", release, "must name the user"},
		{"eve renews", eve, "eve@example.com", renew, "by its holder or an operator"},
		{"eve confirms a restore", eve, "eve@example.com", func(r *lease.Record) error { return r.ConfirmRestore(r.Token+1, "", now) }, "an operator"},
		{"eve waits", eve, "eve@example.com", func(r *lease.Record) error {
			r.Enqueue(lease.Ticket{ID: "2", Holder: "eve", User: "eve@example.com"}, now)
			return nil
		}, ""},
		{"ada renews", ada, "ada@example.com", renew, ""},
		{"an operator evicts", ops, "ops@example.com", func(r *lease.Record) error { return r.Evict(r.Token, "ops", "needed", now) }, ""},
	} {
		err := write(step.by, step.signed, step.do)
		if step.says == "" && err != nil || step.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), step.says)) {
			t.Errorf("%s: %v, want %q", step.what, err, step.says)
		}
	}
	r, err := admins.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Status.Recent[len(r.Status.Recent)-1]; last.Type != lease.Evicted || last.Actor != "ada@desk" || last.User != "ops@example.com" {
		t.Errorf("the history says %+v", last)
	}
	r.Status.Recent[0].Actor = "eve"
	if _, err := admins.Save(t.Context(), r); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "never changed") {
		t.Errorf("a line is rewritten: %v", err)
	}
}
