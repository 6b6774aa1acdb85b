package resources

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// shown is the number of pods named per object, podsRead the number of pods read.
const (
	shown    = 3
	podsRead = 200
)

// explain adds the causes to incomplete objects: namespace, pods, nodes. A failed read of a
// cause is added as a condition and changes no verdict.
func (l *reader) explain(ctx context.Context, states []state) {
	var nodes *corev1.NodeList
	for i := range states {
		s := &states[i]
		if s.complete() {
			continue
		}
		var err error
		switch {
		case !s.Found:
			err = l.namespace(ctx, s)
		case s.Kind == kindDaemonSet && s.Desired == 0:
			if nodes == nil {
				nodes, err = l.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
			}
			if err == nil {
				err = l.nodes(ctx, s, nodes.Items)
			}
		default:
			err = l.pods(ctx, s)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			s.Conditions = append(s.Conditions, "cannot read the cause: "+err.Error())
		}
	}
}

func (l *reader) namespace(ctx context.Context, s *state) error {
	if s.Namespace == "" {
		return nil
	}
	_, err := l.Client.CoreV1().Namespaces().Get(ctx, s.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		s.NoNamespace, err = true, nil
	}
	return err
}

// nodes counts the nodes that a DaemonSet selects.
func (l *reader) nodes(ctx context.Context, s *state, nodes []corev1.Node) error {
	d, err := l.Client.AppsV1().DaemonSets(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.placing(&d.Spec.Template.Spec, nodes)
	return nil
}

func (s *state) placing(pod *corev1.PodSpec, nodes []corev1.Node) {
	affinity := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *pod})
	taints := map[string]bool{}
	s.Nodes, s.Selected, s.Selector = len(nodes), 0, selectorText(pod)
	for i := range nodes {
		if fits, err := affinity.Match(&nodes[i]); err != nil || !fits {
			continue
		}
		s.Selected++
		for _, t := range nodes[i].Spec.Taints {
			if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(pod.Tolerations, &t) {
				taints[t.ToString()] = true
			}
		}
	}
	s.Taints = slices.Sorted(maps.Keys(taints))
}

// tolerated ignores the tolerations that the DaemonSet controller adds, since the node
// lifecycle controller removes their taints.
func tolerated(list []corev1.Toleration, t *corev1.Taint) bool {
	return slices.ContainsFunc(list, func(x corev1.Toleration) bool {
		return (x.Key == "" || x.Key == t.Key) && (x.Effect == "" || x.Effect == t.Effect) &&
			(x.Operator == corev1.TolerationOpExists || x.Value == t.Value)
	})
}

func selectorText(pod *corev1.PodSpec) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		parts = append(parts, key+"="+pod.NodeSelector[key])
	}
	if pod.Affinity != nil && pod.Affinity.NodeAffinity != nil {
		parts = append(parts, "node affinity")
	}
	if len(parts) == 0 {
		return "any node"
	}
	return strings.Join(parts, ", ")
}

// pods adds the pods of an object that are not ready.
func (l *reader) pods(ctx context.Context, s *state) error {
	selector, err := l.selector(ctx, s)
	if err != nil || selector == nil {
		return err
	}
	list, err := l.Client.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(selector), Limit: podsRead})
	if err != nil {
		return err
	}
	s.notReady(list.Items)
	return nil
}

func (l *reader) selector(ctx context.Context, s *state) (*metav1.LabelSelector, error) {
	get := metav1.GetOptions{}
	switch s.Kind {
	case kindDeployment:
		d, err := l.Client.AppsV1().Deployments(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return nil, err
		}
		return d.Spec.Selector, nil
	case kindDaemonSet:
		d, err := l.Client.AppsV1().DaemonSets(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return nil, err
		}
		return d.Spec.Selector, nil
	case kindStatefulSet:
		d, err := l.Client.AppsV1().StatefulSets(s.Namespace).Get(ctx, s.Name, get)
		if err != nil {
			return nil, err
		}
		return d.Spec.Selector, nil
	default:
		return nil, nil
	}
}

func (s *state) notReady(pods []corev1.Pod) {
	more := 0
	for i := range pods {
		why := whyNotReady(&pods[i])
		switch {
		case why == "":
		case len(s.Pods) < shown:
			s.Pods = append(s.Pods, "pod "+pods[i].Name+": "+why)
		default:
			more++
		}
	}
	if more > 0 {
		s.Pods = append(s.Pods, fmt.Sprintf("and %d more pods", more))
	}
}

// whyNotReady is empty for a ready pod.
func whyNotReady(p *corev1.Pod) string {
	parts := []string{"phase " + string(p.Status.Phase)}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			return ""
		case c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue:
			parts = append(parts, c.Reason+": "+c.Message)
		}
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil {
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("container %s: %s %s", c.Name, w.Reason, w.Message)))
		}
	}
	return strings.Join(parts, ", ")
}
