package gangjob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

// Free explains why a gang does not fit: the nodes without enough free GPUs and the pods that
// hold them. It is empty if the gang fits. A run uses free GPUs only and never queues.
// Where the launcher claims GPUs, those of ResourceSlices are counted: a cluster without the
// device plugin has no others.
func Free(ctx context.Context, l *workload.Launcher, spec workload.Spec) (string, error) {
	reason, _, err := free(ctx, l, spec)
	return reason, err
}

// free is Free, with the nodes without enough free GPUs.
func free(ctx context.Context, l *workload.Launcher, spec workload.Spec) (reason string, lacking []string, err error) {
	usage, err := usageFor(ctx, l, spec)
	if err != nil {
		return "", nil, fmt.Errorf("list free GPUs: %w", err)
	}
	reason, lacking = missing(spec, usage)
	return reason, lacking, nil
}

func usageFor(ctx context.Context, l *workload.Launcher, spec workload.Spec) (map[string]kube.Usage, error) {
	if l.Cordoned {
		return inventory.UsageBehindCordon(ctx, l.Cluster, l.DeviceClass, spec.Nodes)
	}
	return inventory.UsageBy(ctx, l.Cluster, l.DeviceClass, spec.Nodes)
}

// Missing explains why the pods do not fit on nodes with this usage; "" if they do.
func Missing(spec workload.Spec, usage map[string]kube.Usage) string {
	reason, _ := missing(spec, usage)
	return reason
}

func missing(spec workload.Spec, usage map[string]kube.Usage) (reason string, lacking []string) {
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
			short, lacking = append(short, describe(node, u)), append(lacking, node)
		}
	}
	if fit >= spec.Pods {
		return "", nil
	}
	return fmt.Sprintf("%d of %d pods with %d GPUs each fit: %s", fit, spec.Pods, spec.GPUs, strings.Join(short, "; ")), lacking
}

func describe(node string, u kube.Usage) string {
	if u.Allocatable == 0 {
		return node + " has no allocatable GPU (not found, not ready, cordoned, or without the device plugin or DRA driver)"
	}
	parts := []string{fmt.Sprintf("%s has %d of %d GPUs free", node, u.Free(), u.Allocatable)}
	for _, h := range u.Holders {
		if h.Namespace == "" { // of ClaimUsage: "claim team/train"
			parts = append(parts, h.Pod+" holds some")
			continue
		}
		parts = append(parts, fmt.Sprintf("pod %s/%s holds %d", h.Namespace, h.Pod, h.Count))
	}
	return strings.Join(parts, ", ")
}
