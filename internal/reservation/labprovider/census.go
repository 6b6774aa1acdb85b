package labprovider

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// present is on the nodes that have GPUs, also where none of them can be given to a pod.
const (
	present = "nvidia.com/gpu.present=true"
	gpu     = "nvidia.com/gpu"
)

// Census asks the deployment's API server.
func (p *Provider) Census(ctx context.Context, r hook.Request) ([]hook.Node, error) {
	rec, err := p.record(r.Deployment)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Reservation != r.Reservation.Name {
		return nil, fmt.Errorf("look at the nodes of %s: there is no such deployment of reservation %s", r.Deployment, r.Reservation.Name)
	}
	handle, err := lab.Attach(ctx, r.Deployment)
	if err != nil {
		return nil, fmt.Errorf("look at the nodes of %s: %w: %w", r.Deployment, hook.ErrTemporary, err)
	}
	status, err := handle.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the nodes of %s: %w: %w", r.Deployment, hook.ErrTemporary, err)
	}
	cluster, err := kube.Open(status.Info.Kubeconfig, "")
	if err != nil {
		return nil, fmt.Errorf("look at the nodes of %s: %w", r.Deployment, err)
	}
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: present})
	if err != nil {
		return nil, fmt.Errorf("look at the nodes of %s: %w: %w", r.Deployment, hook.ErrTemporary, err)
	}
	out := make([]hook.Node, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, nodeOf(&list.Items[i]))
	}
	return out, nil
}

func nodeOf(n *corev1.Node) hook.Node {
	return hook.Node{
		Name: n.Name, UID: string(n.UID), Ready: kube.Ready(n), Cordoned: n.Spec.Unschedulable,
		GPUs: kube.Count(n.Status.Allocatable, gpu),
	}
}
