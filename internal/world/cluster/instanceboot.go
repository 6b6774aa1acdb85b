package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// nodeClasses are those of Karpenter's KWOK provider: each says how long its
// instances take until they register as nodes.
func nodeClasses() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}
}

// boot makes every node class's instances take so long; 0 gives them back what
// they had.
func (i *instances) boot(ctx context.Context, delay time.Duration) error {
	classes, err := i.dyn.Resource(nodeClasses()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return wrap(err, "list node classes")
	}
	want := fmt.Sprintf("%ds", int(delay.Seconds()))
	for _, c := range classes.Items {
		have, _, err := unstructured.NestedString(c.Object, "spec", "nodeRegistrationDelay")
		if err != nil {
			return wrap(err, "read node class %s", c.GetName())
		}
		before, known := i.boots[c.GetName()]
		switch {
		case delay > 0 && have != want:
			if !known {
				i.boots[c.GetName()] = have
			}
			err = i.setBoot(ctx, c.GetName(), want)
		case delay == 0 && known:
			err = i.setBoot(ctx, c.GetName(), before)
			if err == nil {
				delete(i.boots, c.GetName())
			}
		}
		if err != nil {
			return wrap(err, "change node class %s", c.GetName())
		}
	}
	return nil
}

// setBoot writes a delay; none takes it out.
func (i *instances) setBoot(ctx context.Context, class, delay string) error {
	value := "null"
	if delay != "" {
		value = fmt.Sprintf("%q", delay)
	}
	patch := `{"spec":{"nodeRegistrationDelay":` + value + `}}`
	_, err := i.dyn.Resource(nodeClasses()).Patch(ctx, class, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

const (
	// maxBoot is the longest boot whose end is waited for.
	maxBoot = time.Minute
	// sweepAfter is how long it may take until a node that was promised is seen.
	sweepAfter = 10 * time.Second
	// unclaimed is how old a node must be: its claim learns of it a moment later.
	unclaimed = 3 * time.Second
)

// sweep takes away the nodes of instances that were given up while they booted.
// Karpenter's KWOK provider makes every node that it has promised; at a provider
// whose instances boot, the instance ends with its claim.
func (i *instances) sweep(ctx context.Context, now time.Time) error {
	nodes := slices.DeleteFunc(i.made(), func(n *corev1.Node) bool {
		unregistered := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "karpenter.sh/unregistered" })
		return !unregistered || now.Sub(n.CreationTimestamp.Time) < unclaimed
	})
	if len(nodes) == 0 {
		return nil
	}
	claims, err := i.dyn.Resource(nodeClaims()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return wrap(err, "list node claims")
	}
	var errs []error
	for _, n := range nodes {
		if slices.ContainsFunc(claims.Items, func(c unstructured.Unstructured) bool { return providerOf(c) == n.Spec.ProviderID }) {
			continue
		}
		if err := i.client.CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, wrap(err, "delete node %s", n.Name))
		}
	}
	return errors.Join(errs...)
}

func providerOf(c unstructured.Unstructured) string {
	id, _, _ := unstructured.NestedString(c.Object, "status", "providerID") // no string is no provider's
	return id
}
