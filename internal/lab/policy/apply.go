package policy

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/firstlight/firstlight/internal/poll"
)

const run = "firstlight.dev/run"

const sampleInterval = 50 * time.Millisecond

// put creates a policy, waits until it is applied and updates existing objects so that it applies
// to them.
func (e *Engine) put(ctx context.Context, name string) error {
	p, err := find(name)
	if err != nil {
		return err
	}
	e.applied[name] = true // set before creation, so that a partial policy is removed
	object, binding := p.objects(name)
	api := e.client.AdmissionregistrationV1()
	if _, err := api.MutatingAdmissionPolicies().Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create policy %s: %w", name, err)
	}
	if _, err := api.MutatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create binding of policy %s: %w", name, err)
	}
	if err := e.waitApplied(ctx, name, p, true); err != nil {
		return err
	}
	if p.Resource.schema() == corev1.SchemeGroupVersion.WithResource("pods") {
		return nil // pods are immutable
	}
	return e.touch(ctx, name, p)
}

// remove deletes a policy and waits until it is no longer applied.
func (e *Engine) remove(ctx context.Context, name string) error {
	p, err := find(name)
	if err != nil {
		return err
	}
	api := e.client.AdmissionregistrationV1()
	if err := api.MutatingAdmissionPolicyBindings().Delete(ctx, objectName(name), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete binding of policy %s: %w", name, err)
	}
	if err := api.MutatingAdmissionPolicies().Delete(ctx, objectName(name), metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete policy %s: %w", name, err)
	}
	if err := e.waitApplied(ctx, name, p, false); err != nil {
		return err
	}
	delete(e.applied, name)
	return nil
}

// waitApplied dry-runs samples until they are changed, or unchanged.
func (e *Engine) waitApplied(ctx context.Context, name string, p policy, want bool) error {
	return poll.Until(ctx, sampleInterval, fmt.Sprintf("policy %s to be applied: %t", name, want), func(ctx context.Context) error {
		answer, err := e.of(p, p.sample().GetNamespace()).Create(ctx, p.sample(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case apierrors.IsNotFound(err) && !want: // the kind does not exist
			return nil
		case apierrors.IsNotFound(err):
			return poll.Stop(err)
		case err == nil && p.changed(answer) != want:
			return fmt.Errorf("the policy changes a sample: %t", !want)
		}
		return err
	})
}

// touch updates firstlight's objects without a change.
func (e *Engine) touch(ctx context.Context, name string, p policy) error {
	list, err := e.of(p, "").List(ctx, metav1.ListOptions{LabelSelector: run})
	if err != nil {
		return fmt.Errorf("apply policy %s to existing objects: %w", name, err)
	}
	for _, o := range list.Items {
		err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			api := e.of(p, o.GetNamespace())
			object, err := api.Get(ctx, o.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			_, err = api.Update(ctx, object, metav1.UpdateOptions{})
			return err
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("apply policy %s to %s: %w", name, o.GetName(), err)
		}
	}
	return nil
}

func (e *Engine) of(p policy, namespace string) dynamic.ResourceInterface {
	r := e.dynamic.Resource(p.Resource.schema())
	if namespace == "" {
		return r
	}
	return r.Namespace(namespace)
}
