package cluster

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const blockersNamespace = "blockers"

// syncBlockerPods creates a pod that must not be disrupted on every node of a run, or deletes them
// all.
func (i *instances) syncBlockerPods(ctx context.Context, wanted bool) error {
	if !wanted {
		err := i.client.CoreV1().Namespaces().Delete(ctx, blockersNamespace, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return wrap(err, "delete namespace %s", blockersNamespace)
		}
		i.blockerPods = false
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: blockersNamespace}}
	if !i.blockerPods {
		if _, err := i.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return wrap(err, "create namespace %s", blockersNamespace)
		}
		i.blockerPods = true
	}
	nodes := i.made()
	if len(nodes) == 0 {
		return nil
	}
	have, err := i.client.CoreV1().Pods(blockersNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return wrap(err, "list blocker pods")
	}
	kept := map[string]bool{}
	for _, p := range have.Items {
		kept[p.Spec.NodeName] = true
	}
	var errs []error
	for _, n := range nodes {
		if kept[n.Name] {
			continue
		}
		_, err := i.client.CoreV1().Pods(blockersNamespace).Create(ctx, blockerPod(n.Name), metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			i.blockerPods = false // the namespace was terminating: create it again
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			errs = append(errs, wrap(err, "create blocker pod on %s", n.Name))
		}
	}
	return errors.Join(errs...)
}

func blockerPod(node string) *corev1.Pod {
	no, grace := false, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "blocker-" + node, Namespace: blockersNamespace,
			Annotations: map[string]string{"karpenter.sh/do-not-disrupt": "true"},
		},
		Spec: corev1.PodSpec{
			NodeName:                      node,
			Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			Containers:                    []corev1.Container{{Name: "keeper", Image: "registry.k8s.io/pause:3.10"}},
		},
	}
}
