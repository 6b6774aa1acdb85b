package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// SetQueueClosed closes the queue default-queue of each of KAI, Volcano and Kueue that the lab has,
// or opens it.
func (l *Lab) SetQueueClosed(ctx context.Context, on bool) error {
	return l.change(ctx, "queue closed", func(f *component.Faults) { f.QueueClosed = on }, l.switchQueues)
}

// SetJobOperatorsDown stops the operators of job kinds that the lab has, or starts them. It returns
// when they have ended, or are ready.
func (l *Lab) SetJobOperatorsDown(ctx context.Context, on bool) error {
	return l.change(ctx, "job operators down", func(f *component.Faults) { f.JobOperatorsDown = on },
		l.restartingOf(component.JobSet, component.KubeflowTrainer, component.MPIOperator, component.VolcanoControllers))
}

// SetKueueDown stops Kueue, or starts it. It returns when it has ended, or is ready.
func (l *Lab) SetKueueDown(ctx context.Context, on bool) error {
	return l.change(ctx, "Kueue down", func(f *component.Faults) { f.KueueDown = on }, l.restarting(component.Kueue))
}

// SetKubeRayDown stops the KubeRay operator, or starts it. It returns when it has ended, or is ready.
func (l *Lab) SetKubeRayDown(ctx context.Context, on bool) error {
	return l.change(ctx, "KubeRay down", func(f *component.Faults) { f.KubeRayDown = on }, l.restarting(component.KubeRay))
}

// restartingOf is restarting for those of the components that the lab has, which must be one at
// least.
func (l *Lab) restartingOf(names ...string) effect {
	return func(ctx context.Context, f component.Faults) error {
		present := l.present(names)
		if len(present) == 0 {
			return fmt.Errorf("restart: %w any of %v", errAbsent, names)
		}
		return l.restarting(present...)(ctx, f)
	}
}

// present are those of the components that the lab has.
func (l *Lab) present(names []string) []string {
	l.mu.Lock()
	conf := l.conf
	l.mu.Unlock()
	all := namesOf(component.All(conf))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(all, name) })
}

// ofKueue are the resources of Kueue's queues.
func ofKueue() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"}
}

// queue is the queue of a scheduler's extra, with the patches that close and open it.
type queue struct {
	extra        string
	resource     schema.GroupVersionResource
	closed, open string
}

// queues of the gang schedulers. Volcano's scheduler does not read the state of a closed queue: only its
// webhook does.
func queues() []queue {
	return []queue{
		{
			component.ExtraKAI, schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2", Resource: "queues"},
			`{"spec":{"resources":{"gpu":{"limit":0}}}}`, `{"spec":{"resources":{"gpu":{"limit":-1}}}}`,
		},
		{
			component.ExtraVolcano, schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"},
			`{"spec":{"capability":{"nvidia.com/gpu":"0"}}}`, `{"spec":{"capability":null}}`,
		},
		{component.ExtraKueue, ofKueue(), `{"spec":{"stopPolicy":"Hold"}}`, `{"spec":{"stopPolicy":"None"}}`},
	}
}

func (l *Lab) switchQueues(ctx context.Context, f component.Faults) error {
	patched := false
	for _, q := range queues() {
		if !slices.Contains(l.With(), q.extra) {
			continue
		}
		patched = true
		text := q.open
		if f.QueueClosed {
			text = q.closed
		}
		if err := l.patchQueue(ctx, q.resource, text); err != nil {
			return err
		}
	}
	if !patched {
		return fmt.Errorf("close the queue: %w a scheduler with queues: add one of the extras %s, %s, %s", errAbsent, component.ExtraKAI, component.ExtraVolcano, component.ExtraKueue)
	}
	return nil
}

func (l *Lab) patchQueue(ctx context.Context, resource schema.GroupVersionResource, text string) error {
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if _, err := client.Resource(resource).Patch(ctx, "default-queue", types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch queue default-queue of %s: %w", resource.Group, err)
	}
	return nil
}

// The quota of the lab's ClusterQueue (manifest kueue/after/queues.yaml), and one that no lab has.
const (
	kueueQuota  = "32"
	kueueExcess = "1000000"
)

// halfGangOthers makes Volcano and Kueue, where the lab has them, place parts of gangs: Volcano
// without its plugin gang and action enqueue, Kueue with a quota above the lab's GPUs.
func (l *Lab) halfGangOthers(ctx context.Context, f component.Faults) error {
	if present := l.present([]string{component.VolcanoScheduler}); len(present) > 0 {
		if err := l.restarting(present...)(ctx, f); err != nil {
			return err
		}
	}
	if !slices.Contains(l.With(), component.ExtraKueue) {
		return nil
	}
	quota := kueueQuota
	if f.HalfGang {
		quota = kueueExcess
	}
	resources := []any{}
	covered := []string{"nvidia.com/gpu", "rdma/ib"}
	for _, name := range covered {
		resources = append(resources, map[string]any{"name": name, "nominalQuota": quota})
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"resourceGroups": []any{map[string]any{
		"coveredResources": covered,
		"flavors":          []any{map[string]any{"name": "default-flavor", "resources": resources}},
	}}}})
	if err != nil {
		return fmt.Errorf("change the quota of Kueue: %w", err)
	}
	return l.patchQueue(ctx, ofKueue(), string(patch))
}
