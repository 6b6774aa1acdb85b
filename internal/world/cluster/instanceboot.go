package cluster

import (
	"context"
	"fmt"
	"time"

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
