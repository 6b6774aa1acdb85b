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

// training is a gang with a pod for each node that takes all of its GPUs: it has to be placed
// together and run to its end, and each pod has to see its GPUs. A gang of one pod more must
// not be placed, not even a part of it.
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

// inference is a replica for each GPU: all of them have to be placed and become ready. One
// that wants a GPU more than a node has must not be placed.
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

// completed sees a gang to its end, and which GPUs its pods saw.
func (t *podTest) completed(ctx context.Context, gang *workload.Gang, what string) error {
	result, err := gang.WaitDone(ctx)
	if err != nil {
		t.check(false, "%s was placed and did not end: %v", what, err)
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
		t.check(seen == gang.Spec.GPUs, "pod %s on %s was given %d GPUs and sees %d", pod.Pod, pod.Node, gang.Spec.GPUs, seen)
	}
	return nil
}

// ready sees that replicas run and that all of them are ready.
func (t *podTest) ready(ctx context.Context, replicas *workload.Gang, what string) error {
	if err := replicas.WaitRunning(ctx); err != nil {
		t.check(false, "%s were placed and do not run: %v", what, err)
		return nil
	}
	pods, err := replicas.Pods(ctx)
	if err != nil {
		return err //nolint:wrapcheck // says what it read
	}
	ready := 0
	for i := range pods {
		for _, c := range pods[i].Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	t.check(ready == replicas.Spec.Pods, "of %s %d are ready", what, ready)
	return nil
}
