package cluster

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepersNamespace is somebody else's.
const keepersNamespace = "keepers"

// syncKeepers puts a pod that must not be disrupted on every node that was made
// for a run, or takes all of them away.
func (i *instances) syncKeepers(ctx context.Context, wanted bool) error {
	if !wanted {
		err := i.client.CoreV1().Namespaces().Delete(ctx, keepersNamespace, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return wrap(err, "delete namespace %s", keepersNamespace)
		}
		i.keepers = false
		return nil
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: keepersNamespace}}
	if !i.keepers {
		if _, err := i.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return wrap(err, "create namespace %s", keepersNamespace)
		}
		i.keepers = true
	}
	nodes := i.made()
	if len(nodes) == 0 {
		return nil
	}
	have, err := i.client.CoreV1().Pods(keepersNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return wrap(err, "list keepers")
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
		_, err := i.client.CoreV1().Pods(keepersNamespace).Create(ctx, keeper(n.Name), metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			i.keepers = false // the namespace was on its way out: make it again
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			errs = append(errs, wrap(err, "create keeper on %s", n.Name))
		}
	}
	return errors.Join(errs...)
}

// keeper is a pod that is where it is for good.
func keeper(node string) *corev1.Pod {
	no, grace := false, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "keeper-" + node, Namespace: keepersNamespace,
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
