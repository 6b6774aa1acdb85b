package hookprovider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/workload"
)

// training runs a gang with one pod per node that uses all of its GPUs: it must be scheduled
// together and complete, and each pod must list its GPUs. A gang with one more pod must not be
// scheduled, not even partly.
func (t *podTest) training(ctx context.Context) error {
	gang := workload.Spec{
		Name: "gang", Gate: "test", Pods: t.size.nodes, GPUs: t.size.gpus, Image: image, Container: "gpus", Script: "nvidia-smi -L",
	}
	what := fmt.Sprintf("the gang of %d pods with %d GPUs each", gang.Pods, gang.GPUs)
	if err := t.placed(ctx, gang, workload.Native{}, what, t.completed); err != nil {
		return err
	}
	gang.Name, gang.Pods = "too-large", gang.Pods+1
	return t.refused(ctx, gang, workload.Native{}, fmt.Sprintf("a gang of %d pods with %d GPUs each", gang.Pods, gang.GPUs))
}

// inference runs one replica per GPU: all must be scheduled and become ready. A replica with more
// GPUs than a node has must not be scheduled.
func (t *podTest) inference(ctx context.Context) error {
	replicas := workload.Spec{
		Name: "replicas", Gate: "test", Pods: t.size.nodes * t.size.gpus, GPUs: 1, Image: image, Container: "server", Script: "sleep infinity",
	}
	what := fmt.Sprintf("%d replicas with a GPU each", replicas.Pods)
	if err := t.placed(ctx, replicas, nil, what, t.ready); err != nil {
		return err
	}
	replicas.Name, replicas.Pods, replicas.GPUs = "too-large", 1, t.size.gpus+1
	return t.refused(ctx, replicas, nil, fmt.Sprintf("a replica with %d GPUs", replicas.GPUs))
}

// completed waits for a gang and checks the GPUs that its pods list.
func (t *podTest) completed(ctx context.Context, gang *workload.Gang, what string) error {
	result, err := gang.WaitDone(ctx)
	if err != nil {
		t.check(false, "%s was scheduled but did not complete: %v", what, err)
		return nil
	}
	var ends []string
	for _, pod := range result.Pods {
		ends = append(ends, pod.String())
	}
	t.check(result.Succeeded, "%s failed: %s %s", what, result.Reason, strings.Join(ends, "; "))
	for _, pod := range result.Pods {
		log, err := gang.Logs(ctx, pod.Pod)
		if err != nil {
			return fmt.Errorf("read the log of pod %s: %w", pod.Pod, err)
		}
		text, err := io.ReadAll(io.LimitReader(log, 1<<20))
		if err := errors.Join(err, log.Close()); err != nil {
			return fmt.Errorf("read the log of pod %s: %w", pod.Pod, err)
		}
		seen := strings.Count("\n"+string(text), "\nGPU ")
		t.check(seen == gang.Spec.GPUs, "pod %s on %s requested %d GPUs and lists %d", pod.Pod, pod.Node, gang.Spec.GPUs, seen)
	}
	return nil
}

// ready waits for replicas and checks that all are ready.
func (t *podTest) ready(ctx context.Context, replicas *workload.Gang, what string) error {
	if err := replicas.WaitRunning(ctx); err != nil {
		t.check(false, "%s were scheduled but are not running: %v", what, err)
		return nil
	}
	pods, err := replicas.Pods(ctx)
	if err != nil {
		return err
	}
	ready := 0
	for i := range pods {
		for _, c := range pods[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	t.check(ready == replicas.Spec.Pods, "of %s, %d are ready", what, ready)
	return nil
}
