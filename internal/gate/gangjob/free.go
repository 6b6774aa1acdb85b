package gangjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// Free says why a gang has no place: nodes whose GPUs others hold, and who.
// It is empty when there is a place: a guest takes free GPUs only, and does not
// queue for those that are not.
func Free(ctx context.Context, cluster *kube.Cluster, spec workload.Spec) (string, error) {
	usage, err := cluster.Usage(ctx, spec.Nodes, kube.GPUResource)
	if err != nil {
		return "", fmt.Errorf("look for free GPUs: %w", err)
	}
	return room(spec, usage), nil
}

// room says why pods have no place on nodes used so; empty when they have.
func room(spec workload.Spec, usage map[string]kube.Usage) string {
	fit := 0
	var short []string
	for _, node := range slices.Sorted(slices.Values(spec.Nodes)) {
		u := usage[node]
		pods := 0
		if spec.GPUs > 0 {
			pods = u.Free() / spec.GPUs
		}
		if spec.OnePerNode {
			pods = min(pods, 1)
		}
		fit += pods
		if pods == 0 {
			short = append(short, describe(node, u))
		}
	}
	if fit >= spec.Pods {
		return ""
	}
	return fmt.Sprintf("there is room for %d of %d pods with %d GPUs each: %s", fit, spec.Pods, spec.GPUs, strings.Join(short, "; "))
}

func describe(node string, u kube.Usage) string {
	if u.Allocatable == 0 {
		return node + " has no GPU to give (not there, not ready, cordoned, or without the device plugin)"
	}
	parts := []string{fmt.Sprintf("%s has %d of %d GPUs free", node, u.Free(), u.Allocatable)}
	for _, h := range u.Holders {
		parts = append(parts, fmt.Sprintf("pod %s/%s holds %d", h.Namespace, h.Pod, h.Count))
	}
	return strings.Join(parts, ", ")
}
