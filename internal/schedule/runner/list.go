package runner

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// list reads all kinds of the scenario at the resource version of a consistent list of
// pods.
func (r *run) list(ctx context.Context) (*objectSet, string, error) {
	key := metav1.ListOptions{LabelSelector: LabelScenario + "=" + r.layout.id}
	p := newObjectSet()
	r.view.read(func(seen *objectSet) {
		maps.Copy(p.problems, seen.problems)
	})
	pods, err := r.client.CoreV1().Pods("").List(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		p.putPod(readPod(&pods.Items[i]))
	}
	key.ResourceVersion, key.ResourceVersionMatch = pods.ResourceVersion, metav1.ResourceVersionMatchExact
	nodes, err := r.client.CoreV1().Nodes().List(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		n := readNode(&nodes.Items[i])
		p.nodes[n.name] = n
	}
	groups, err := r.client.SchedulingV1alpha2().PodGroups("").List(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("list pod groups: %w", err)
	}
	for i := range groups.Items {
		g := readPodGroup(&groups.Items[i])
		p.gangs[g.name] = g
	}
	for _, kind := range r.layout.kinds() {
		if err := r.listKind(ctx, p, kind, key); err != nil {
			return nil, "", fmt.Errorf("list %ss: %w", kind, err)
		}
	}
	if len(nodes.Items) != len(r.layout.scenario.Nodes) {
		return nil, "", fmt.Errorf("the scenario has %d nodes, listed %d", len(r.layout.scenario.Nodes), len(nodes.Items))
	}
	return p, pods.ResourceVersion, nil
}

func (r *run) listKind(ctx context.Context, p *objectSet, kind string, key metav1.ListOptions) error {
	switch kind {
	case deployment:
		list, err := r.client.AppsV1().ReplicaSets("").List(ctx, key)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.statuses[list.Items[i].Labels[labelWorkload]] = readReplicaSet(&list.Items[i])
		}
	case statefulSet:
		list, err := r.client.AppsV1().StatefulSets("").List(ctx, key)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.statuses[list.Items[i].Labels[labelWorkload]] = readStatefulSet(&list.Items[i])
		}
	case daemonSet:
		list, err := r.client.AppsV1().DaemonSets("").List(ctx, key)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.statuses[list.Items[i].Labels[labelWorkload]] = readDaemonSet(&list.Items[i])
		}
	case job:
		list, err := r.client.BatchV1().Jobs("").List(ctx, key)
		if err != nil {
			return err
		}
		for i := range list.Items {
			p.statuses[list.Items[i].Labels[labelWorkload]] = readJob(&list.Items[i])
		}
	}
	return nil
}
