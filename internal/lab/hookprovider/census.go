package hookprovider

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// GetNodes reads the nodes from the deployment's API server.
func (p *Provider) GetNodes(ctx context.Context, r hook.Request) ([]hook.Node, error) {
	rec, err := p.record(r.Deployment)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Reservation != r.Reservation.Name {
		return nil, fmt.Errorf("get the nodes of %s: reservation %s has no such deployment", r.Deployment, r.Reservation.Name)
	}
	_, cluster, err := connect(ctx, r.Deployment)
	if err != nil {
		return nil, fmt.Errorf("get the nodes of %s: %w: %w", r.Deployment, hook.ErrTemporary, err)
	}
	nodes, err := gpuNodes(ctx, cluster)
	if err != nil {
		return nil, fmt.Errorf("get the nodes of %s: %w: %w", r.Deployment, hook.ErrTemporary, err)
	}
	out := make([]hook.Node, 0, len(nodes))
	for i := range nodes {
		out = append(out, nodeOf(&nodes[i]))
	}
	return out, nil
}

func nodeOf(n *corev1.Node) hook.Node {
	return hook.Node{
		Name: n.Name, UID: string(n.UID), Ready: kube.Ready(n), Cordoned: n.Spec.Unschedulable,
		GPUs: kube.Count(n.Status.Allocatable, kube.GPUResource),
	}
}
