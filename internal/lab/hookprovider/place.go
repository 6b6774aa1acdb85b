package hookprovider

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// placed starts pods and sees that all of them are placed, and then what after looks at. The
// error says that nothing could be seen.
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
	t.check(bound, "not placed: %s: %s", what, reason)
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

// refused starts pods that there is no room for, and sees that none of them is placed.
func (t *podTest) refused(ctx context.Context, spec workload.Spec, gang workload.Scheduler, what string) error {
	pods, err := t.start(ctx, spec, gang)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	got, err := pods.Placement(limited, refusalHold)
	t.check(err == nil && got.Bound == 0, "%s, which there is no room for: %d were placed (%v)", what, got.Bound, err)
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

// decision waits until all pods are placed, or until the scheduler's refusal has stood for a
// while; why is what the scheduler says.
func decision(ctx context.Context, pods *workload.Gang) (bound bool, reason string) {
	waits, cancel := context.WithCancel(ctx)
	defer cancel()
	var refusal sync.WaitGroup
	refusal.Go(func() {
		_, _ = pods.Placement(waits, refusalHold) // looked at below
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

// hold is the lab's word for containers that are being created.
const hold = "firstlight.dev/world-hold"

// slowly has pods wait for their start, as for an image that takes long to pull.
type delayedStart struct{ gang workload.Scheduler }

var _ workload.Scheduler = delayedStart{}

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

// release lets pods start that were held.
func (t *podTest) release(ctx context.Context, pods *workload.Gang) error {
	if t.startDelay == 0 {
		return nil
	}
	timer := time.NewTimer(t.startDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	all, err := pods.Pods(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says what it read
	}
	for i := range all {
		patch := []byte(`{"metadata":{"annotations":{"` + hold + `":null}}}`)
		if _, err := t.cluster.Client.CoreV1().Pods(pods.Namespace).Patch(ctx, all[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("let pod %s start: %w", all[i].Name, err)
		}
	}
	return nil
}
