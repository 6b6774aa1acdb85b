package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func nodeClaims() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
}

// labelSpareNode is on spare nodes; its value is the claim that the node was created for.
const labelSpareNode = "firstlight.dev/spare-node-for"

// spareDelay is the time between the last step of the HPA or the newest claim of a pool and the
// spare nodes. A spare node between two steps of the HPA leaves the node of the first step without a
// pod, and Karpenter nominates the pods of the second step for that node.
const spareDelay = 5 * time.Second

// syncSpareNodes creates a free node of the same pool for each claim of a run that has no node, if
// another claim of the pool has one. It starts spareDelay after the HPA reached maxReplicas and after
// the newest claim of the pool. The scheduler binds the pending pods to the spare nodes, because the
// nodes of their claims boot longer. A spare node is deleted with the claims of its pool or the fault.
func (i *instances) syncSpareNodes(ctx context.Context, wanted bool, now time.Time) error {
	list, err := i.dyn.Resource(nodeClaims()).List(ctx, metav1.ListOptions{LabelSelector: labelRun + "," + labelPool})
	if err != nil {
		return wrap(err, "list node claims")
	}
	have, err := i.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labelSpareNode})
	if err != nil {
		return wrap(err, "list nodes")
	}
	i.spareNodes = true
	var errs []error
	if wanted {
		scaling, err := i.scaling(ctx, now)
		if err != nil {
			return err
		}
		for _, c := range list.Items {
			settled := !scaling[c.GetLabels()[labelRun]] && now.Sub(newestClaim(poolOf(c), list.Items)) >= spareDelay
			if settled && awaited(c, list.Items) && !hasNode(have.Items, c.GetName()) {
				_, err := i.client.CoreV1().Nodes().Create(ctx, spareNode(c, now), metav1.CreateOptions{})
				if err != nil && !apierrors.IsAlreadyExists(err) {
					errs = append(errs, wrap(err, "create spare node for %s", c.GetName()))
				}
			}
		}
	}
	for _, n := range have.Items {
		if wanted && slices.ContainsFunc(list.Items, func(c unstructured.Unstructured) bool { return poolOf(c) == n.Labels[labelPool] }) {
			continue
		}
		if err := i.client.CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, wrap(err, "delete node %s", n.Name))
		}
	}
	i.spareNodes = wanted || len(errs) > 0
	return errors.Join(errs...)
}

// scaling returns the IDs of runs with an HPA below maxReplicas, or with a step less than spareDelay ago.
func (i *instances) scaling(ctx context.Context, now time.Time) (map[string]bool, error) {
	list, err := i.client.AutoscalingV2().HorizontalPodAutoscalers(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: labelRun})
	if err != nil {
		return nil, wrap(err, "list HPAs")
	}
	runs := map[string]bool{}
	for _, h := range list.Items {
		last := h.Status.LastScaleTime
		if h.Status.DesiredReplicas < h.Spec.MaxReplicas || last != nil && now.Sub(last.Time) < spareDelay {
			runs[h.Labels[labelRun]] = true
		}
	}
	return runs, nil
}

// awaited reports whether a claim has no node while another claim of its pool has one.
func awaited(c unstructured.Unstructured, all []unstructured.Unstructured) bool {
	return nodeOf(c) == "" && slices.ContainsFunc(all, func(other unstructured.Unstructured) bool {
		return poolOf(other) == poolOf(c) && nodeOf(other) != ""
	})
}

// newestClaim returns the creation time of a pool's newest claim.
func newestClaim(pool string, all []unstructured.Unstructured) time.Time {
	var newest time.Time
	for _, c := range all {
		if at := c.GetCreationTimestamp().Time; poolOf(c) == pool && at.After(newest) {
			newest = at
		}
	}
	return newest
}

func poolOf(c unstructured.Unstructured) string { return c.GetLabels()[labelPool] }

func nodeOf(c unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(c.Object, "status", "nodeName") // not a string: no node
	return name
}

func hasNode(nodes []corev1.Node, claim string) bool {
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { return n.Labels[labelSpareNode] == claim })
}

// spareNode is a free, Ready GPU node of a claim's pool.
func spareNode(c unstructured.Unstructured, now time.Time) *corev1.Node {
	name := "spare-" + c.GetName()
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("192"), corev1.ResourceMemory: resource.MustParse("2Ti"),
		corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		gpuResource: resource.MustParse("8"),
	}
	at := metav1.NewTime(now)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				labelSpareNode: c.GetName(), labelPool: poolOf(c), corev1.LabelHostname: name,
				corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: string(gpuResource), Value: "present", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				Message: "kubelet is posting ready status", LastHeartbeatTime: at, LastTransitionTime: at,
			}},
		},
	}
}
