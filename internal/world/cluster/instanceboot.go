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

// nodeClasses are those of Karpenter's KWOK provider; their spec has the registration delay of
// instances.
func nodeClasses() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}
}

// boot sets the registration delay of every node class; 0 restores the previous delays.
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

// setBoot writes a delay; an empty one removes it.
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
	// maxBoot is the longest boot whose end is awaited.
	maxBoot = time.Minute
	// sweepAfter is how late a node can appear after its delay.
	sweepAfter = 10 * time.Second
	// unclaimed is the minimum age of a node: its claim gets its ID a moment after creation.
	unclaimed = 3 * time.Second
)

// sweep deletes the nodes of instances whose claims were deleted during boot. Karpenter's KWOK
// provider creates every promised node; at a real provider the instance ends with its claim.
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
	id, _, _ := unstructured.NestedString(c.Object, "status", "providerID") // not a string: no provider ID
	return id
}
