package hookprovider

import (
	"context"
	"fmt"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// placed starts pods, checks that all are scheduled, and runs after. An error means that nothing
// was observed.
func (t *podTest) placed(ctx context.Context, spec workload.Spec, gang workload.Scheduler, what string, after func(context.Context, *workload.Gang, string) error) error {
	if t.startDelay > 0 {
		gang = delayedStart{gang}
	}
	pods, err := t.start(ctx, spec, gang)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, within+t.startDelay)
	defer cancel()
	bound, reason := decision(limited, pods)
	t.check(bound, "not scheduled: %s: %s", what, reason)
	if bound {
		if err := t.release(limited, pods); err != nil {
			return err
		}
		if err := after(limited, pods, what); err != nil {
			return err
		}
	}
	return t.remove(ctx, pods)
}

// refused starts pods that exceed the capacity and checks that the scheduler refuses all.
func (t *podTest) refused(ctx context.Context, spec workload.Spec, gang workload.Scheduler, what string) error {
	pods, err := t.start(ctx, spec, gang)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	got, err := pods.Placement(limited, refusalHold)
	t.check(err == nil && got.Bound == 0, "%s exceeds the capacity, but %d pods were scheduled (%v)", what, got.Bound, err)
	return t.remove(ctx, pods)
}

func (t *podTest) start(ctx context.Context, spec workload.Spec, gang workload.Scheduler) (*workload.Gang, error) {
	launcher := t.launcher
	launcher.Gang = gang
	pods, err := launcher.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("start pods: %w", err)
	}
	return pods, nil
}

func (t *podTest) remove(ctx context.Context, pods *workload.Gang) error {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := pods.Delete(limited); err != nil {
		return fmt.Errorf("remove pods: %w", err)
	}
	return nil
}

// decision waits until all pods are scheduled or the scheduler has refused them for a while;
// reason is its message.
func decision(ctx context.Context, pods *workload.Gang) (bound bool, reason string) {
	waits, cancel := context.WithCancel(ctx)
	defer cancel()
	var refusal sync.WaitGroup
	refusal.Go(func() {
		_, _ = pods.Placement(waits, refusalHold) // the result is read below
		cancel()
	})
	err := pods.WaitBound(waits)
	cancel()
	refusal.Wait()
	if err == nil {
		return true, ""
	}
	now, err := pods.PlacementNow(ctx)
	switch {
	case err != nil:
		return false, err.Error()
	case now.Bound == now.Wanted:
		return true, ""
	case len(now.Messages) > 0:
		return false, fmt.Sprintf("%d of %d pods are: %s", now.Bound, now.Wanted, strings.Join(now.Messages, "; "))
	default:
		return false, pods.Explain(ctx)
	}
}

// hold makes the lab keep containers in creation.
const hold = "firstlight.dev/world-hold"

// delayedStart delays the start of pods, like a slow image pull.
type delayedStart struct{ gang workload.Scheduler }

// Name implements workload.Scheduler.
func (s delayedStart) Name() string { return "slowly" }

// GroupResource implements workload.Scheduler.
func (s delayedStart) GroupResource() schema.GroupVersionResource { return kube.PodGroups() }

// Decorate implements workload.Scheduler.
func (s delayedStart) Decorate(g workload.Group, job *batchv1.Job) []*unstructured.Unstructured {
	job.Spec.Template.Annotations = map[string]string{hold: "creating"}
	if s.gang == nil {
		return nil
	}
	return s.gang.Decorate(g, job)
}

// Refused implements workload.Scheduler.
func (s delayedStart) Refused(group *unstructured.Unstructured) (string, bool) {
	if s.gang == nil {
		return "", false
	}
	return s.gang.Refused(group)
}

// release starts the delayed pods.
func (t *podTest) release(ctx context.Context, pods *workload.Gang) error {
	if t.startDelay == 0 {
		return nil
	}
	if err := poll.Sleep(ctx, t.startDelay); err != nil {
		return err
	}
	all, err := pods.Pods(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		patch := []byte(`{"metadata":{"annotations":{"` + hold + `":null}}}`)
		if _, err := t.cluster.Client.CoreV1().Pods(pods.Namespace).Patch(ctx, all[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("start pod %s: %w", all[i].Name, err)
		}
	}
	return nil
}
