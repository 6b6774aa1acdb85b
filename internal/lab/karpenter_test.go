package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/instances"
	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/suite"
)

var (
	nodePools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
)

// poolName is a NodePool without restrictions on instance types.
const poolName = "any"

func nodePool() *unstructured.Unstructured {
	requirement := func(key string, values ...any) map[string]any {
		return map[string]any{"key": key, "operator": "In", "values": values}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": poolName},
		"spec": map[string]any{
			"limits": map[string]any{"nvidia.com/gpu": "100"},
			"disruption": map[string]any{
				"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1s",
				"budgets": []any{map[string]any{"nodes": "100%"}},
			},
			"template": map[string]any{"spec": map[string]any{
				"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
				"taints":       []any{map[string]any{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}},
				"requirements": []any{
					requirement("kubernetes.io/arch", "amd64", "arm64"),
					requirement("kubernetes.io/os", "linux"),
					requirement("karpenter.sh/capacity-type", "on-demand"),
				},
			}},
		},
	}}
}

// orderingPod needs a GPU of a new node of the instance type.
func orderingPod(name, instanceType string) *corev1.Pod {
	pod := simplePod(name)
	// Otherwise Karpenter would evict it for a cheaper node, and no controller would recreate it.
	pod.Annotations["karpenter.sh/do-not-disrupt"] = "true"
	pod.Spec.NodeSelector = map[string]string{"karpenter.sh/nodepool": poolName, "node.kubernetes.io/instance-type": instanceType}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}}
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	return pod
}

// testKarpenter adds Karpenter to a running lab. It creates a node of every instance type for
// pending pods (of two types for every change) and deletes them after the pods.
func testKarpenter(t *testing.T, r *running) {
	if err := r.Ensure(t.Context(), []string{"carpenter"}); err == nil || !strings.Contains(err.Error(), "karpenter, kai") {
		t.Errorf("unknown extra: %v, want the valid names", err)
	}
	begin := time.Now()
	if err := r.Ensure(t.Context(), []string{component.ExtraKarpenter}); err != nil {
		t.Fatal(err)
	}
	t.Logf("Karpenter was ready after %s", time.Since(begin))
	if err := r.Ensure(t.Context(), []string{component.ExtraKarpenter}); err != nil {
		t.Errorf("existing extra: %v", err)
	}
	requireExtra(t, r)

	t.Cleanup(func() { // rare failure on busy machines
		if t.Failed() {
			logKarpenter(t, r)
		}
	})

	types, err := instances.Load()
	if err != nil {
		t.Fatal(err)
	}
	types = types[:suite.Pick(2, len(types), len(types))]
	if _, err := r.dyn.Resource(nodePools).Create(t.Context(), nodePool(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	for _, it := range types {
		r.createPod(t, orderingPod(podOf(it), it.Name))
	}
	nodes := map[string]string{} // name to UID
	for _, it := range types {
		pod := awaitOrdered(t, r, it)
		node, err := r.client.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		requireNode(t, r, node, it)
		nodes[node.Name] = string(node.UID)
	}
	t.Logf("%d pods ran on %d new nodes after %s", len(types), len(nodes), time.Since(begin))
	if len(nodes) != len(types) {
		t.Errorf("nodes are %v, want one for each of %d types", nodes, len(types))
	}

	begin = time.Now()
	for _, it := range types {
		if err := r.client.CoreV1().Pods("default").Delete(t.Context(), podOf(it), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// Karpenter reconciles each claim again every 5 minutes, also after it has missed an event.
	r.awaitFor(t, 8*time.Minute, "the new nodes and their claims to be gone", func(ctx context.Context) (bool, error) {
		return noneOrdered(ctx, r, nodes)
	})
	t.Logf("the %d nodes and their claims were gone after %s", len(nodes), time.Since(begin))
	if _, err := r.client.CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{}); err != nil {
		t.Errorf("the initial node: %v", err)
	}
}

// awaitOrdered waits for the pod of an instance type to run. On a loaded machine, the taint eviction
// controller sees the pod's binding before it sees that Karpenter removed the taint of the
// unregistered node, and deletes the pod; it is then created again, as a Deployment would.
func awaitOrdered(t *testing.T, r *running, it instances.Type) (pod *corev1.Pod) {
	t.Helper()
	pods, evicted := r.client.CoreV1().Pods("default"), false
	r.await(t, "pod "+podOf(it)+" to be running", func(ctx context.Context) (bool, error) {
		var err error
		pod, err = pods.Get(ctx, podOf(it), metav1.GetOptions{})
		if apierrors.IsNotFound(err) && !evicted { // once
			evicted = true
			t.Logf("pod %s was evicted", podOf(it))
			_, err = pods.Create(ctx, orderingPod(podOf(it), it.Name), metav1.CreateOptions{})
		}
		if err != nil {
			return false, err
		}
		return pod.Status.Phase == corev1.PodRunning, fmt.Errorf("phase %s, conditions %v", pod.Status.Phase, pod.Status.Conditions)
	})
	return pod
}

// logKarpenter logs what decides whether Karpenter creates and deletes nodes. The context of the
// test has ended when it runs.
func logKarpenter(t *testing.T, r *running) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if pods, err := r.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err == nil {
		for _, p := range pods.Items {
			t.Logf("pod %s on %q: phase %s, deleted %v, conditions %v", p.Name, p.Spec.NodeName, p.Status.Phase, p.DeletionTimestamp, p.Status.Conditions)
		}
	}
	if nodes, err := r.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		for _, n := range nodes.Items {
			t.Logf("node %s (%s): deleted %v, taints %v, conditions %v", n.Name, n.Labels["node.kubernetes.io/instance-type"], n.DeletionTimestamp, n.Spec.Taints, n.Status.Conditions)
		}
	}
	if claims, err := r.dyn.Resource(nodeClaims).List(ctx, metav1.ListOptions{}); err == nil {
		for _, c := range claims.Items {
			t.Logf("claim %s: deleted %v, status %v", c.GetName(), c.GetDeletionTimestamp(), c.Object["status"])
		}
	}
	if events, err := r.client.CoreV1().Events("").List(ctx, metav1.ListOptions{}); err == nil {
		for _, e := range events.Items[max(0, len(events.Items)-60):] {
			t.Logf("event %s %s/%s %s: %s", e.LastTimestamp.Format(time.TimeOnly), e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
	for _, name := range []string{component.Karpenter, component.Kwok} {
		if raw, err := os.ReadFile(filepath.Join(r.info.Dir, "logs", name+".log")); err == nil {
			t.Logf("end of the log of %s: %s", name, raw[max(0, len(raw)-8000):])
		}
	}
}

// requireExtra checks how status and components report the extra.
func requireExtra(t *testing.T, r *running) {
	t.Helper()
	if diff := cmp.Diff([]string{component.ExtraAdapter, component.ExtraKarpenter}, r.Status().Info.With); diff != "" {
		t.Errorf("status (-want +got):\\n%s", diff)
	}
	all := r.Components()
	if len(all) != 9 {
		t.Fatalf("%d components, want 9", len(all))
	}
	if k := all[8]; k.Name != component.Karpenter || k.State != process.Ready || !slices.Contains(k.Env, "BATCH_IDLE_DURATION=200ms") {
		t.Errorf("the last component is %+v, want Karpenter, ready, with its settings", k)
	}
	if k := all[1]; k.Name != component.APIServer || len(k.Args) == 0 || k.Identity.PID == 0 {
		t.Errorf("the second component is %+v, want the API server with its arguments", k)
	}
	r.events.await(t, "the gain", func(e Event) bool { return e.Kind == KindExtra && e.Name == component.ExtraKarpenter })
}

func podOf(it instances.Type) string {
	return "on-" + strings.ReplaceAll(it.Name, ".", "-")
}

// requireNode proves that a node matches its type, is Ready, belongs to a claim of the pool and
// has kwok's kubelet address.
func requireNode(t *testing.T, r *running, node *corev1.Node, it instances.Type) {
	t.Helper()
	want := map[string]string{
		"karpenter.sh/nodepool": poolName, "node.kubernetes.io/instance-type": it.Name,
		"kubernetes.io/arch": it.Architecture.Value, "karpenter.sh/capacity-type": "on-demand",
	}
	for key, value := range want {
		if node.Labels[key] != value {
			t.Errorf("node of %s: label %s is %q, want %q", it.Name, key, node.Labels[key], value)
		}
	}
	if !slices.Contains(it.Zones.Value, node.Labels["topology.kubernetes.io/zone"]) {
		t.Errorf("node of %s is in zone %q, want one of %v", it.Name, node.Labels["topology.kubernetes.io/zone"], it.Zones.Value)
	}
	if node.Status.NodeInfo.Architecture != it.Architecture.Value {
		t.Errorf("node of %s has architecture %s", it.Name, node.Status.NodeInfo.Architecture)
	}
	for what, list := range map[string]corev1.ResourceList{"capacity": node.Status.Capacity, "allocatable": node.Status.Allocatable} {
		if gpus := list["nvidia.com/gpu"]; float64(gpus.Value()) != it.GPUs.Value {
			t.Errorf("node of %s: %s has %s GPUs, want %g", it.Name, what, gpus.String(), it.GPUs.Value)
		}
	}
	ready, kubelet := false, false
	for _, c := range node.Status.Conditions {
		ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}
	for _, a := range node.Status.Addresses {
		kubelet = kubelet || a.Type == corev1.NodeExternalDNS && a.Address == r.info.Address
	}
	if !ready || !kubelet {
		t.Errorf("node of %s: conditions %v, addresses %v; want it Ready, with kwok's address", it.Name, node.Status.Conditions, node.Status.Addresses)
	}
	requireClaim(t, r, node)
}

// requireClaim proves that a NodeClaim names the node. Karpenter can write the name after the pod
// has started.
func requireClaim(t *testing.T, r *running, node *corev1.Node) {
	t.Helper()
	r.await(t, "a claim of node "+node.Name, func(ctx context.Context) (bool, error) {
		claims, err := r.dyn.Resource(nodeClaims).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range claims.Items {
			name, _, err := unstructured.NestedString(c.Object, "status", "nodeName")
			if err == nil && name == node.Name {
				return true, nil
			}
		}
		return false, nil
	})
}

// noneOrdered reports that all nodes and claims are deleted.
func noneOrdered(ctx context.Context, r *running, nodes map[string]string) (bool, error) {
	for name, uid := range nodes {
		node, err := r.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err == nil && string(node.UID) == uid {
			return false, fmt.Errorf("node %s exists, taints %v", name, node.Spec.Taints)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
	}
	claims, err := r.dyn.Resource(nodeClaims).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	if n := len(claims.Items); n > 0 {
		return false, fmt.Errorf("%d claims exist", n)
	}
	return true, nil
}
