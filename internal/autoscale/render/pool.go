package render

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// rolePool is the role of the pool of the replicas and the gang.
const rolePool = "pool"

// PoolNames are the names of the run's NodePools. They are short with KAI, which writes a
// node's name (with some providers derived from the pool's) into a label of at most 63
// characters.
func PoolNames(run string, kai bool) (pool, zero, short string) {
	pool = "firstlight-" + run
	if kai {
		pool = "fl-" + run[strings.LastIndex(run, "-")+1:]
	}
	return pool, pool + "-zero", pool + "-short"
}

// Pools are the NodePools that a run makes, none where it was given one.
func Pools(v Values) []*unstructured.Unstructured {
	if v.Zero == "" {
		return nil
	}
	return []*unstructured.Unstructured{
		nodePool(v, v.Pool, rolePool, map[string]any{kube.GPUResource: strconv.Itoa(PoolLimit(v))}),
		nodePool(v, v.Zero, snapshot.RoleZero, map[string]any{kube.GPUResource: "0"}),
	}
}

// PoolLimit is the maximum number of GPUs of the run's pool: the nodes of its replicas and of
// the gang, which may exist at the same time.
func PoolLimit(v Values) int {
	return (v.Max + max(0, v.Gang)) * max(v.GPUs, v.NodeGPUs)
}

// ShortPool is the NodePool in which the gang lacks one node.
func ShortPool(v Values) *unstructured.Unstructured {
	return nodePool(v, v.Short, snapshot.RoleShort, map[string]any{"nodes": strconv.Itoa(v.Gang - 1), kube.GPUResource: strconv.Itoa(v.ShortGPUs)})
}

func nodePool(v Values, name, role string, limits map[string]any) *unstructured.Unstructured {
	requirements := []any{
		requirement(corev1.LabelOSStable, "linux"),
		requirement("karpenter.sh/capacity-type", "on-demand"),
	}
	if len(v.InstanceTypes) > 0 {
		requirements = append(requirements, requirement(corev1.LabelInstanceTypeStable, v.InstanceTypes...))
	}
	var taints []any
	if v.Tainted {
		taints = append(taints, taint(v.Taint))
	}
	taints = append(taints, taint(v.ownTaint()))
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1",
		"kind":       "NodePool",
		"metadata":   map[string]any{"name": name, "labels": anyMap(v.labels(role))},
		"spec": map[string]any{
			"limits": limits,
			"disruption": map[string]any{
				"consolidationPolicy": "WhenEmptyOrUnderutilized",
				"consolidateAfter":    whole(v.ConsolidateAfter),
				"budgets":             []any{map[string]any{"nodes": "100%"}},
			},
			"template": map[string]any{
				"metadata": map[string]any{"labels": anyMap(v.labels(""))},
				"spec": map[string]any{
					"nodeClassRef": map[string]any{"group": v.NodeClass.Group, "kind": v.NodeClass.Kind, "name": v.NodeClass.Name},
					"requirements": requirements,
					"taints":       taints,
					"expireAfter":  "Never", // without a terminationGracePeriod: it would end pods of others in spite of their protection
				},
			},
		},
	}}
}

func requirement(key string, values ...string) any {
	list := make([]any, 0, len(values))
	for _, v := range values {
		list = append(list, v)
	}
	return map[string]any{"key": key, "operator": "In", "values": list}
}

func taint(t site.Taint) any {
	m := map[string]any{"key": t.Key, "effect": t.Effect}
	if t.Value != "" {
		m["value"] = t.Value
	}
	return m
}

// whole writes a span as Karpenter reads it: whole seconds.
func whole(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
