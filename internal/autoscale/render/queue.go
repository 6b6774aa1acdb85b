package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// KAI's words.
const (
	kaiScheduler = "kai-scheduler"
	queueLabel   = "kai.scheduler/queue"
)

// QueueName is the queue that a run's pods go through.
func QueueName(run string) string { return "firstlight-" + run }

// Queues are KAI's queues of the run, in the order to create them: pods belong
// to a leaf, and a leaf to a parent. None without KAI.
func Queues(v Values) []*unstructured.Unstructured {
	if v.Queue == "" {
		return nil
	}
	parent := v.Queue + "-parent"
	return []*unstructured.Unstructured{queue(v, parent, ""), queue(v, v.Queue, parent)}
}

func queue(v Values, name, parent string) *unstructured.Unstructured {
	unlimited := func() map[string]any {
		return map[string]any{"quota": int64(-1), "limit": int64(-1), "overQuotaWeight": int64(1)}
	}
	spec := map[string]any{"resources": map[string]any{"cpu": unlimited(), "memory": unlimited(), "gpu": unlimited()}}
	if parent != "" {
		spec["parentQueue"] = parent
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.run.ai/v2",
		"kind":       "Queue",
		"metadata":   map[string]any{"name": name, "labels": anyMap(v.labels(""))},
		"spec":       spec,
	}}
}
