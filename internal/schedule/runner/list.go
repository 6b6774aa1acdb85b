package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// list reads all kinds of the cell at one resource version: that of the pods, which
// are read first and as they are at this moment.
func (r *run) list(ctx context.Context) (*picture, string, error) {
	of := metav1.ListOptions{LabelSelector: LabelCell + "=" + r.layout.id}
	p := newPicture()
	r.view.look(func(seen *picture) {
		maps.Copy(p.troubles, seen.troubles)
	})
	pods, err := r.client.CoreV1().Pods("").List(ctx, of)
	if err != nil {
		return nil, "", fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		p.putPod(lookAtPod(&pods.Items[i]))
	}
	of.ResourceVersion, of.ResourceVersionMatch = pods.ResourceVersion, metav1.ResourceVersionMatchExact
	nodes, err := r.client.CoreV1().Nodes().List(ctx, of)
	if err != nil {
		return nil, "", fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		n := lookAtNode(&nodes.Items[i])
		p.nodes[n.name] = n
	}
	groups, err := r.client.SchedulingV1alpha2().PodGroups("").List(ctx, of)
	if err != nil {
		return nil, "", fmt.Errorf("list pod groups: %w", err)
	}
	for i := range groups.Items {
		g := lookAtPodGroup(&groups.Items[i])
		p.gangs[g.name] = g
	}
	for _, kind := range r.layout.kinds() {
		if err := r.listKind(ctx, p, kind, of); err != nil {
			return nil, "", fmt.Errorf("list %ss: %w", kind, err)
		}
	}
	if len(nodes.Items) != len(r.layout.scenario.Nodes) && !slices.ContainsFunc(r.machines, func(m *machine) bool { return m == nil }) {
		return nil, "", fmt.Errorf("the cell has %d nodes, and %d were listed", len(r.layout.scenario.Nodes), len(nodes.Items))
	}
	return p, pods.ResourceVersion, nil
}

func (r *run) listKind(ctx context.Context, p *picture, kind string, of metav1.ListOptions) error {
	switch kind {
	case deployment:
		list, err := r.client.AppsV1().ReplicaSets("").List(ctx, of)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.workloads[list.Items[i].Labels[labelOf]] = lookAtReplicaSet(&list.Items[i])
		}
	case statefulSet:
		list, err := r.client.AppsV1().StatefulSets("").List(ctx, of)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.workloads[list.Items[i].Labels[labelOf]] = lookAtStatefulSet(&list.Items[i])
		}
	case daemonSet:
		list, err := r.client.AppsV1().DaemonSets("").List(ctx, of)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.workloads[list.Items[i].Labels[labelOf]] = lookAtDaemonSet(&list.Items[i])
		}
	case job:
		list, err := r.client.BatchV1().Jobs("").List(ctx, of)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.workloads[list.Items[i].Labels[labelOf]] = lookAtJob(&list.Items[i])
		}
	}
	return nil
}
