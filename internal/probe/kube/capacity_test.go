package kube

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
)

// clusterWithNodes has two NodePools of run r with a node and its claim each. The node of NodePool used has pods.
func clusterWithNodes(t *testing.T, pods ...*corev1.Pod) *Cluster {
	t.Helper()
	c := clusterWithJobs()
	client := fake.NewClientset()
	for _, p := range pods {
		p.Spec.NodeName = "node-used"
		if err := client.Tracker().Add(p); err != nil {
			t.Fatal(err)
		}
	}
	c.Client, c.Namespace = client, ""
	for _, pool := range []string{"used", "free"} {
		labels := Labels("r", "")
		labels[poolLabel] = pool
		for kind, status := range map[string]map[string]any{"NodePool": nil, "NodeClaim": {"nodeName": "node-" + pool}, "Node": nil} {
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "karpenter.sh/v1", "kind": kind, "status": status}}
			k := nodes()
			o.SetName("node-" + pool)
			switch kind {
			case "NodePool":
				k = capacity()[0]
				o.SetName(pool)
			case "NodeClaim":
				k = capacity()[1]
				o.SetName("claim-" + pool)
			default:
				o.SetAPIVersion("v1")
			}
			o.SetLabels(labels)
			if _, err := c.Dynamic.Resource(k.resource).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

func podOn(name string, labels map[string]string, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Labels: labels}}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: "x"}}
	}
	return p
}

// exist lists the capacity of run r that exists.
func exist(t *testing.T, c *Cluster) string {
	t.Helper()
	var out []string
	for _, k := range append(capacity(), nodes()) {
		list, err := c.listLabelled(t.Context(), k, LabelRun+"=r")
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			out = append(out, list.Items[i].GetName())
		}
	}
	return strings.Join(out, " ")
}

// A pod of another team that got a node of the run keeps it: the deletion of the node would end the pod.
func TestACleanUpKeepsNodesWithPodsOfOthers(t *testing.T) {
	t.Parallel()
	ended := podOn("ended", nil, "Job")
	ended.Status.Phase = corev1.PodSucceeded
	for name, tt := range map[string]struct {
		pod  *corev1.Pod
		left string
	}{
		"of another team":       {podOn("train", nil, "Job"), "used claim-used node-used"},
		"of another run":        {podOn("load", Labels("other", ""), "Job"), "used claim-used node-used"},
		"of a DaemonSet":        {podOn("exporter", nil, "DaemonSet"), ""},
		"of the node's kubelet": {podOn("proxy", nil, "Node"), ""},
		"that has ended":        {ended, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clusterWithNodes(t, tt.pod)
			occupied, rest := Occupied(Guest{Cluster: c}.Cleanup(t.Context(), "r"))
			if rest != nil || exist(t, c) != tt.left {
				t.Fatalf("%q exist, want %q: %v", exist(t, c), tt.left, rest)
			}
			if tt.left == "" {
				if occupied != nil {
					t.Error(occupied)
				}
				return
			}
			if occupied == nil || !strings.Contains(occupied.Error(), "node node-used is kept: pod team/"+tt.pod.Name) || !strings.Contains(occupied.Error(), "kubectl delete nodepool used") {
				t.Fatalf("%v", occupied)
			}
			pool, err := c.Dynamic.Resource(NodePools()).Get(t.Context(), "used", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			limit, _, _ := unstructured.NestedString(pool.Object, "spec", "limits", "cpu")
			policy, _, _ := unstructured.NestedString(pool.Object, "spec", "disruption", "consolidationPolicy")
			if limit != "0" || policy != "WhenEmpty" {
				t.Errorf("NodePool used has limit %q and policy %q", limit, policy)
			}
		})
	}
}

// Where the pods of the nodes cannot be listed, no node is deleted.
func TestNodesWhosePodsAreUnknownAreKept(t *testing.T) {
	t.Parallel()
	c := clusterWithNodes(t)
	if _, err := (Guest{Cluster: c}).occupied(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	client.PrependReactor("list", "pods", refuse("pods"))
	_, err := Guest{Cluster: c}.removeCapacity(t.Context(), "r")
	if err == nil || !apierrors.IsForbidden(errors.Unwrap(err)) || exist(t, c) != "free used claim-free claim-used node-free node-used" {
		t.Errorf("%q exist: %v", exist(t, c), err)
	}
}
