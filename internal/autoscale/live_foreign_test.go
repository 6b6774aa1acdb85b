package autoscale_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// A pending GPU pod of another team that accepts any NodePool got its node from the run's pool, whose
// nodes are deleted at the end of the run: among NodePools of one weight Karpenter takes the one that is last by name. Without the taint
// it still does.
func testForeignPods(t *testing.T, b *labtest.Lab) {
	const others = "a-team"
	b.Retire() // the provider creates the node of a claim later, also that of a claim that is deleted by then
	for name, tt := range map[string]struct {
		untaint bool
		want    string
	}{
		"WithTheTaint":    {false, others},
		"WithoutTheTaint": {true, "firstlight-foreign"},
	} {
		t.Run(name, func(t *testing.T) {
			v := render.Values{
				Run: "foreign", Pool: "firstlight-foreign", Zero: "firstlight-foreign-zero", Min: 1, Max: 2, GPUs: 1, NodeGPUs: 1,
				NodeClass: site.NodeClass{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}, InstanceTypes: []string{"g5.xlarge"},
			}
			ours := render.Pools(v)[0]
			theirs := ours.DeepCopy()
			theirs.SetName(others)
			theirs.SetLabels(nil)
			unstructured.RemoveNestedField(theirs.Object, "spec", "template", "spec", "taints")
			unstructured.RemoveNestedField(theirs.Object, "spec", "template", "metadata")
			if tt.untaint {
				unstructured.RemoveNestedField(ours.Object, "spec", "template", "spec", "taints")
			}
			pools := b.Cluster.Dynamic.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"})
			claims := b.Cluster.Dynamic.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"})
			pods := b.Cluster.Client.CoreV1().Pods(metav1.NamespaceDefault)
			t.Cleanup(func() {
				ctx := context.WithoutCancel(t.Context())
				for _, err := range []error{
					pods.Delete(ctx, others, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}),
					pools.Delete(ctx, ours.GetName(), metav1.DeleteOptions{}), pools.Delete(ctx, others, metav1.DeleteOptions{}),
				} {
					if err != nil && !apierrors.IsNotFound(err) { // the test may have ended before it
						t.Error(err)
					}
				}
				polltest.UntilNil(t, "the claims to end", func() error {
					list, err := claims.List(ctx, metav1.ListOptions{})
					if err == nil && len(list.Items) > 0 {
						err = fmt.Errorf("%d left", len(list.Items))
					}
					return err
				})
			})
			for _, p := range []*unstructured.Unstructured{ours, theirs} {
				if _, err := pools.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				polltest.UntilNil(t, "NodePool "+p.GetName()+" to be Ready", func() error {
					got, err := pools.Get(t.Context(), p.GetName(), metav1.GetOptions{})
					if err != nil {
						return err
					}
					conditions, _, err := unstructured.NestedSlice(got.Object, "status", "conditions")
					for _, c := range conditions {
						if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
							return nil
						}
					}
					return fmt.Errorf("%v, %w", conditions, err)
				})
			}
			if _, err := pods.Create(t.Context(), foreignPod(others), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			var got string
			polltest.UntilNil(t, "a claim", func() error {
				list, err := claims.List(t.Context(), metav1.ListOptions{})
				if err != nil || len(list.Items) == 0 {
					return fmt.Errorf("no claim: %w", err)
				}
				got = list.Items[0].GetLabels()[render.PoolLabel]
				return nil
			})
			if got != tt.want {
				t.Errorf("the node is of NodePool %s, want %s", got, tt.want)
			}
		})
	}
}

// foreignPod runs on a GPU node of any NodePool.
func foreignPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: render.PoolLabel, Operator: corev1.NodeSelectorOpExists}},
			}}}}},
			Containers: []corev1.Container{{
				Name: "training", Image: "registry.k8s.io/pause:3.10",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{kube.GPUResource: resource.MustParse("1")}},
			}},
		},
	}
}

// Without room in another NodePool Karpenter creates a node of the run's pool for the pod of another team. The clean-up
// of the run keeps it.
func testForeignPodOnANodeOfTheRun(t *testing.T, b *labtest.Lab) {
	b.Retire()
	const run, theirs = "occupied", "training"
	v := render.Values{
		Run: run, Pool: "firstlight-occupied", Zero: "firstlight-occupied-zero", Min: 1, Max: 2, GPUs: 1, NodeGPUs: 1,
		NodeClass: site.NodeClass{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}, InstanceTypes: []string{"g5.xlarge"},
	}
	pools, pods := b.Cluster.Dynamic.Resource(kube.NodePools()), b.Cluster.Client.CoreV1().Pods(metav1.NamespaceDefault)
	guest := kube.Guest{Cluster: b.Cluster}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := pods.Delete(ctx, theirs, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if err := guest.Cleanup(ctx, run); err != nil {
			t.Error(err)
		}
	})
	if _, err := pools.Create(t.Context(), render.Pools(v)[0], metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := foreignPod(theirs)
	pod.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	created, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the pod to run", func() error {
		got, err := pods.Get(t.Context(), theirs, metav1.GetOptions{})
		if err != nil || got.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%v: %w", got.Status, err)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the deletion of the node would wait for the pod
	defer cancel()
	occupied, rest := kube.Occupied(guest.Cleanup(ctx, run))
	if rest != nil || occupied == nil || !strings.Contains(occupied.Error(), "pod default/"+theirs) {
		t.Errorf("the clean-up returns %v, %v", occupied, rest)
	}
	got, err := pods.Get(t.Context(), theirs, metav1.GetOptions{})
	if err != nil || got.UID != created.UID || got.DeletionTimestamp != nil || got.Status.Phase != corev1.PodRunning {
		t.Errorf("the pod after the clean-up: %+v, %v", got, err)
	}
}
