package accept

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A run whose objects are still in the cluster holds GPUs: it does not pass, in none of its
// files.
func TestAFailedCleanUpIsNotAPass(t *testing.T) {
	t.Parallel()
	for name, namespace := range map[string]string{"own namespace": "", "given namespace that the run created": "acceptance"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sharedCluster()
			client, ok := c.Client.(*fake.Clientset)
			if !ok {
				t.Fatal("another client")
			}
			client.PrependReactor("delete", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "ours", errors.New("no rule"))
			})
			o := holding(t, t.TempDir(), c, func() {})
			o.Namespace = namespace
			r, err := Run(t.Context(), o)
			if err != nil || r.Verdict != check.Unobserved || !strings.Contains(strings.Join(r.NarrowedBy, "\n"), "clean-up failed: ") {
				t.Errorf("%s, narrowed by %q: %v", r.Verdict, r.NarrowedBy, err)
			}
			b, err := evidence.Load(r.Evidence)
			if err != nil || b.Verdict() != check.Unobserved || b.Summary().Verdict != check.Unobserved {
				t.Errorf("the stored run is %s, %v", b.Verdict(), err)
			}
			junit, err := os.ReadFile(filepath.Join(r.Evidence, "junit.xml"))
			if err != nil || !strings.Contains(string(junit), `errors="1"`) {
				t.Errorf("%s, %v", junit, err)
			}
			again, err := evidence.Replay(r.Evidence, func(*evidence.Bundle) (evidence.Derived, error) {
				return evidence.Derived{Checks: []check.Check{look("node")}}, nil
			})
			if err != nil || !again.Identical() || again.Again != check.Unobserved {
				t.Errorf("replayed: %+v, %v", again, err)
			}
		})
	}
}

// reader is a check that reads the cluster and creates nothing.
type reader struct {
	look
	context PlanContext
}

func (r reader) Observe(ctx context.Context, rec check.Recorder) error {
	if _, err := r.context.Cluster(ctx); err != nil {
		return err
	}
	return r.look.Observe(ctx, rec)
}

// forbid makes an account that cannot list or delete all objects of a kind.
func forbid(t *testing.T, c *kube.Cluster, resource string) {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	forbidden := func(a clienttesting.Action) (bool, runtime.Object, error) {
		if l, ok := a.(clienttesting.ListAction); ok && !l.GetListRestrictions().Fields.Empty() {
			return false, nil, nil // one by its name
		}
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no rule"))
	}
	client.PrependReactor("list", resource, forbidden)
	client.PrependReactor("delete-collection", resource, forbidden)
}

// An account that may only read cannot list what it could not create.
func TestARunThatCreatedNothingNeedsNoProofOfItsCleanUp(t *testing.T) {
	t.Parallel()
	reading := func(c PlanContext) (plan.Plan, error) {
		return plan.Plan{Name: "reading", Steps: []plan.Step{{Check: reader{look("node"), c}}}}, nil
	}
	for _, resource := range []string{"priorityclasses", "namespaces"} {
		for name, tt := range map[string]struct {
			playbook func(PlanContext) (plan.Plan, error)
			resumed  bool
			want     check.Verdict
		}{
			"nothing was created":              {reading, false, check.Passed},
			"a namespace was created":          {using(func() {}), false, check.Unobserved},
			"the run was resumed":              {reading, true, check.Unobserved},
			"the creation failed at the Lease": {using(func() {}), false, check.Unobserved},
		} {
			t.Run(resource+", "+name, func(t *testing.T) {
				t.Parallel()
				dir, c := t.TempDir(), sharedCluster()
				forbid(t, c, resource)
				forbid(t, c, "jobs")
				if strings.Contains(name, "Lease") {
					reacting(t, c, "create", func() (bool, error) {
						return true, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "", errors.New("no rule"))
					})
				}
				o := holding(t, dir, c, func() {})
				o.Playbook = tt.playbook
				if tt.resumed {
					unfinished(t, dir, o.Playbook)
				}
				r, err := Run(t.Context(), o)
				if err != nil || r.Verdict != tt.want {
					t.Errorf("%s, notes %q: %v", r.Verdict, r.Notes, err)
				}
				if failed := strings.Contains(strings.Join(r.NarrowedBy, "\n"), "clean-up failed: "); failed != (tt.want == check.Unobserved) || !failed && len(r.Notes) > 0 {
					t.Errorf("narrowed by %q, notes %q", r.NarrowedBy, r.Notes)
				}
			})
		}
	}
}

// Objects of a kind that the account may neither list nor create can be left by an earlier account: the
// report says that they were not looked for.
func TestKindsThatTheCleanUpCannotListAreANote(t *testing.T) {
	t.Parallel()
	c := sharedCluster()
	client, _ := c.Client.(*fake.Clientset)
	dynamic, ok := c.Dynamic.(*dynamicfake.FakeDynamicClient)
	if !ok {
		t.Fatal("another client")
	}
	client.Resources = append(client.Resources, &metav1.APIResourceList{GroupVersion: "karpenter.sh/v1", APIResources: []metav1.APIResource{{Name: "nodepools"}}})
	dynamic.PrependReactor("list", "nodepools", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodepools"}, "", errors.New("no rule"))
	})
	client.PrependReactor("create", "selfsubjectaccessreviews", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{}, nil // nothing is allowed
	})
	r, err := Run(t.Context(), holding(t, t.TempDir(), c, func() {}))
	if err != nil || r.Verdict != check.Passed || !strings.Contains(strings.Join(r.Notes, "\n"), "cannot list nodepools.karpenter.sh") {
		t.Errorf("%s, narrowed by %q, notes %q: %v", r.Verdict, r.NarrowedBy, r.Notes, err)
	}
}

// The namespace controller keeps an empty namespace while an aggregated API does not respond:
// nothing of the run is left to be removed by hand.
func TestANamespaceThatABrokenAPIKeepsIsNamedWithItsRemedy(t *testing.T) {
	t.Parallel()
	const condition = "Discovery failed for some groups, 1 failing: custom.metrics.k8s.io/v1beta1: stale GroupVersion discovery"
	synctest.Test(t, func(t *testing.T) {
		c := sharedCluster()
		client, ok := c.Client.(*fake.Clientset)
		if !ok {
			t.Fatal("another client")
		}
		x := leased(t, c, time.Now)
		x.created.Store(true)
		namespace := &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: kube.NamespaceOf(x.run.ID()), Labels: kube.Labels(x.run.ID(), "")},
			Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating, Conditions: []corev1.NamespaceCondition{
				{Type: corev1.NamespaceDeletionDiscoveryFailure, Status: corev1.ConditionTrue, Message: condition},
				{Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionFalse},
			}},
		}
		if err := client.Tracker().Add(namespace); err != nil {
			t.Fatal(err)
		}
		client.PrependReactor("delete", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
		client.PrependWatchReactor("namespaces", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, watch.NewFake(), nil // nothing changes
		})
		err := x.cleanRun(t.Context())
		if err == nil || !strings.Contains(err.Error(), "NamespaceDeletionDiscoveryFailure: "+condition) || !strings.Contains(err.Error(), "kubectl get apiservices") {
			t.Errorf("%v does not say what keeps the namespace, and the remedy", err)
		}
		if err != nil && strings.Contains(err.Error(), "kubectl delete") {
			t.Errorf("%v says that objects are left", err)
		}
		forbid(t, c, "priorityclasses")
		if err := x.cleanRun(t.Context()); err == nil || !strings.Contains(err.Error(), "kubectl delete") {
			t.Errorf("with other objects: %v", err)
		}
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestCleaningUpDoesNotWaitForTheCluster: its story is a facility gate of 0.1 s
// that took 6 s, because cleaning up after it waited for a lab to start.
func TestCleaningUpDoesNotWaitForTheCluster(t *testing.T) {
	t.Parallel()
	asked, never := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	x := &execution{opts: Options{Cluster: func(ctx context.Context) (*kube.Cluster, error) {
		close(asked)
		<-ctx.Done()
		close(never)
		return nil, ctx.Err()
	}}}
	reached := make(chan error, 1)
	go func() {
		_, err := x.reach(ctx)
		reached <- err
	}()
	<-asked
	if err := x.cleanGate(t.Context(), "facility"); err != nil {
		t.Error(err)
	}
	select {
	case <-never:
		t.Error("the cluster was waited for")
	default:
	}
	cancel()
	if err := <-reached; !errors.Is(err, context.Canceled) {
		t.Errorf("reach ended with %v", err)
	}
}
