package inventory

import (
	"context"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// ClaimUsage reads the usage of the GPUs of ResourceSlices, by node: that of a cluster without
// the device plugin.
func ClaimUsage(ctx context.Context, cluster *kube.Cluster, nodes []string) (map[string]kube.Usage, error) {
	all, err := ListSlices(ctx, cluster)
	if err != nil {
		return nil, err
	}
	held, err := Usage(ctx, cluster, nodes, all)
	if err != nil {
		return nil, err
	}
	out := map[string]kube.Usage{}
	for _, n := range held {
		out[n.Node] = n.usage()
	}
	return out, nil
}

// usage of a node that is not open, or has pods of the device plugin, offers nothing, as in Free.
func (n NodeGPUs) usage() kube.Usage {
	u := kube.Usage{Requested: n.Allocated + n.Plugged}
	if n.Open && n.Plugged == 0 {
		u.Allocatable = n.Offered
	}
	for _, holder := range n.Holders {
		u.Holders = append(u.Holders, kube.Holder{Pod: holder})
	}
	return u
}
