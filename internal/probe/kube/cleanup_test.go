package kube

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// cluster has the given Jobs of run r in the namespace theirs.
func clusterWithJobs(names ...string) *Cluster {
	var jobs []runtime.Object
	for _, name := range names {
		j := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
		j.SetName(name)
		j.SetNamespace("theirs")
		j.SetLabels(Labels("r", ""))
		jobs = append(jobs, j)
	}
	c := &Cluster{Client: fake.NewClientset(), Namespace: "theirs"}
	kinds := map[schema.GroupVersionResource]string{}
	for _, k := range c.labelled() {
		kinds[k.resource] = "List"
	}
	c.Dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, jobs...)
	return c
}

func (c *Cluster) forbid(t *testing.T, verb, resource string) {
	t.Helper()
	dynamic, ok := c.Dynamic.(*dynamicfake.FakeDynamicClient)
	if !ok {
		t.Fatal("another client")
	}
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	dynamic.PrependReactor(verb, resource, refuse(resource))
	client.PrependReactor(verb, resource, refuse(resource))
}

func refuse(resource string) clienttesting.ReactionFunc {
	return func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no rule"))
	}
}

// allow lets the user create a resource.
func (c *Cluster) allow(t *testing.T, resource string) {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	client.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create, ok := a.(clienttesting.CreateAction)
		if !ok {
			return false, nil, nil
		}
		review, ok := create.GetObject().(*authorizationv1.SelfSubjectAccessReview)
		if !ok {
			return false, nil, nil
		}
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = asked.Verb == "create" && asked.Resource == resource
		return true, review, nil
	})
}

// reviews counts the questions for the permission to create each resource.
func (c *Cluster) reviewsAsked(t *testing.T) map[string]int {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	out := map[string]int{}
	for _, a := range client.Actions() {
		if create, ok := a.(clienttesting.CreateAction); ok && a.GetResource().Resource == "selfsubjectaccessreviews" {
			if review, ok := create.GetObject().(*authorizationv1.SelfSubjectAccessReview); ok {
				out[review.Spec.ResourceAttributes.Group+"/"+review.Spec.ResourceAttributes.Resource]++
			}
		}
	}
	return out
}

func TestACleanUpAsksOnceForEachPermission(t *testing.T) {
	t.Parallel()
	c := clusterWithJobs()
	for _, resource := range []string{"nodepools", "nodeclaims", "nodes", "pods"} {
		c.forbid(t, "list", resource)
	}
	c.allow(t, "")
	if err := (Guest{Cluster: c}).Cleanup(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	asked := c.reviewsAsked(t)
	if len(asked) == 0 {
		t.Error("no permission was asked for")
	}
	for resource, n := range asked {
		if n > 1 {
			t.Errorf("%s: asked %d times", resource, n)
		}
	}
}

func TestLeftoversNeedNoPermissionForKindsThatTheRunCannotCreate(t *testing.T) {
	t.Parallel()
	for mayCreate, unread := range map[string]bool{"": false, "nodepools": true} {
		c := clusterWithJobs("one")
		c.forbid(t, "list", "nodeclaims")
		c.allow(t, mayCreate)
		left, err := Guest{Cluster: c}.LeftOf(t.Context(), "r")
		if (err != nil) != unread || len(left) != 1 || left[0].Name != "one" {
			t.Errorf("with permission to create %q: %+v, %v", mayCreate, left, err)
		}
	}
}

func TestAForbiddenDeletionIsNotClean(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verb, resource, mayCreate string
		want                      []string
	}{
		"nothing is forbidden":                            {},
		"deleting jobs":                                   {verb: "delete", resource: "jobs", want: []string{"delete Job one", "delete Job two"}},
		"deleting the namespace":                          {verb: "delete", resource: "namespaces", want: []string{"delete namespace theirs"}},
		"listing what the run may create":                 {verb: "list", resource: "services", mayCreate: "services", want: []string{"list services"}},
		"listing what the run may not create":             {verb: "list", resource: "services"},
		"listing pods of jobs that the run may create":    {verb: "list", resource: "pods", mayCreate: "jobs", want: []string{"list pods"}},
		"listing namespaces, which the run may create":    {verb: "list", resource: "namespaces", mayCreate: "namespaces", want: []string{"list namespaces"}},
		"listing namespaces, which the run cannot create": {verb: "list", resource: "namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clusterWithJobs("one", "two")
			if tt.resource == "namespaces" && tt.verb == "delete" {
				g := Guest{Cluster: c}
				if err := g.createNamespace(t.Context(), "theirs", Labels("r", ""), nil); err != nil {
					t.Fatal(err)
				}
			}
			if tt.verb != "" {
				c.forbid(t, tt.verb, tt.resource)
			}
			c.allow(t, tt.mayCreate)
			err := Guest{Cluster: c}.Cleanup(t.Context(), "r")
			if (err != nil) != (len(tt.want) > 0) {
				t.Fatalf("clean-up returns %v, want %q", err, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v does not name %q", err, want)
				}
			}
		})
	}
}

// In a namespace that an administrator created, every labelled object of a run is removed and counts
// as left before.
func TestCleanUpRemovesEveryKindInAGivenNamespace(t *testing.T) {
	t.Parallel()
	for plural, want := range map[string]kind{
		"services": namespaced()[0], "podmonitors": kindOf("PodMonitor", "monitoring.coreos.com", "v1", "podmonitors"),
		"prometheusrules": {name: "PrometheusRule", resource: PrometheusRules()},
	} {
		c := clusterWithJobs()
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": want.resource.GroupVersion().String(), "kind": want.name}}
		o.SetName("one")
		o.SetLabels(Labels("r", ""))
		objects := c.Dynamic.Resource(want.resource).Namespace("theirs")
		if _, err := objects.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		g := Guest{Cluster: c}
		if left, err := g.LeftOf(t.Context(), "r"); err != nil || len(left) != 1 || left[0].Kind != want.name {
			t.Errorf("%s: left before: %+v, %v", plural, left, err)
		}
		if err := g.Cleanup(t.Context(), "r"); err != nil {
			t.Error(err)
		}
		if _, err := objects.Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: it exists after the clean-up: %v", plural, err)
		}
	}
}

// serve makes the discovery of the fake have resources.
func (c *Cluster) serve(t *testing.T, groupVersion string, resources ...string) {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	list := &metav1.APIResourceList{GroupVersion: groupVersion}
	for _, r := range resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
	}
	client.Resources = append(client.Resources, list)
}

// A list that is forbidden is not empty: the account may have had the permission to create objects
// of the kind before. A kind that the cluster does not serve has none.
func TestKindsThatCannotBeListedAreReported(t *testing.T) {
	t.Parallel()
	c := clusterWithJobs("one")
	for _, resource := range []string{"nodepools", "nodeclaims", "queues", "namespaces"} {
		c.forbid(t, "list", resource)
	}
	c.serve(t, "karpenter.sh/v1", "nodepools")
	c.serve(t, "v1", "namespaces")
	c.allow(t, "")
	left, err := Guest{Cluster: c}.LeftOf(t.Context(), "r")
	notListed, rest := NotListed(err)
	if len(left) != 1 || rest != nil || notListed == nil || !slices.Equal(notListed.Resources, []string{"nodepools.karpenter.sh"}) {
		t.Errorf("left: %+v, %v", left, err)
	}
	notListed, rest = NotListed(Guest{Cluster: c}.Cleanup(t.Context(), "r"))
	if rest != nil || notListed == nil || !slices.Equal(notListed.Resources, []string{"namespaces", "nodepools.karpenter.sh"}) ||
		!strings.Contains(notListed.Error(), "cannot list namespaces, nodepools.karpenter.sh") {
		t.Errorf("clean-up: %v, %v", notListed, rest)
	}
	if left, err := (Guest{Cluster: c}).LeftOf(t.Context(), "r"); len(left) != 0 || err == nil {
		t.Errorf("left after the clean-up: %+v, %v", left, err)
	}
}

// Kubernetes 1.37 serves PodGroups of v1beta1 only: a group of it that a run left would keep its finalizer,
// and its namespace would never be deleted.
func TestPodGroupsOfEachVersionAreFoundAndReleased(t *testing.T) {
	t.Parallel()
	for _, version := range PodGroupVersions() {
		r := PodGroupsOf(version)
		group := &unstructured.Unstructured{Object: map[string]any{"apiVersion": r.GroupVersion().String(), "kind": "PodGroup"}}
		group.SetName("gang-fits")
		group.SetNamespace("theirs")
		group.SetLabels(Labels("r", ""))
		group.SetFinalizers([]string{"scheduling.k8s.io/podgroup-protection"})
		c := clusterWithJobs()
		if _, err := c.Dynamic.Resource(r).Namespace("theirs").Create(t.Context(), group, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		left, err := Guest{Cluster: c}.LeftOf(t.Context(), "r")
		if err != nil || len(left) != 1 || left[0].Kind != "PodGroup" {
			t.Errorf("%s: found %+v, %v", version, left, err)
		}
		group.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1000, 0)})
		if _, err := c.Dynamic.Resource(r).Namespace("theirs").Update(t.Context(), group, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.ReleasePodGroup(t.Context(), r, "theirs", "gang-fits"); err != nil {
			t.Error(err)
		}
		got, err := c.Dynamic.Resource(r).Namespace("theirs").Get(t.Context(), "gang-fits", metav1.GetOptions{})
		if err == nil && len(got.GetFinalizers()) > 0 || err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v, %v", version, got, err)
		}
	}
}
