package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atOnce is how many requests of one cell are under way: other cells have theirs.
const atOnce = 4

// build makes nodes, and namespaces where a pod selects by them, then the workloads of
// the components. (Without admission by namespaces the API server asks for none.)
func (r *run) build(ctx context.Context) error {
	group, making := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, name := range r.layout.selected() {
		group.Go(func() error {
			_, err := r.client.CoreV1().Namespaces().Create(making, r.layout.namespace(name), metav1.CreateOptions{})
			return said("make namespace "+name, err)
		})
	}
	nodes := make([]*corev1.Node, len(r.layout.scenario.Nodes))
	for i, n := range r.layout.scenario.Nodes {
		group.Go(func() (err error) {
			nodes[i], err = r.client.CoreV1().Nodes().Create(making, r.layout.node(n), metav1.CreateOptions{})
			return said("make node "+n.Name, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, n := range r.layout.scenario.Nodes {
		if n.Control == "" {
			r.machines = append(r.machines, &machine{node: n, written: nodes[i], granted: map[corev1.ResourceName]bool{}})
		}
		if err := r.wrote(nodes[i]); err != nil {
			return err
		}
	}
	return r.create(ctx, r.layout.components...)
}

// create makes workloads. What the API server does not take is no error of the run:
// it is what came of the workload.
func (r *run) create(ctx context.Context, works ...*work) error {
	r.view.make(works...)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, w := range works {
		group.Go(func() error {
			err := r.createOne(ctx, w)
			if status, ok := errors.AsType[*apierrors.StatusError](err); ok && refuses(status.Status()) {
				r.view.look(func(*picture) { w.refused = status.Error() })
				return nil
			}
			return said("make "+w.String(), err)
		})
	}
	return group.Wait()
}

func (r *run) createOne(ctx context.Context, w *work) error {
	var err error
	if w.gang {
		if _, err = r.client.SchedulingV1alpha2().PodGroups(w.namespace).Create(ctx, r.layout.podGroup(w), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	switch w.spec.Kind {
	case deployment:
		_, err = r.client.AppsV1().ReplicaSets(w.namespace).Create(ctx, r.layout.replicaSet(w), metav1.CreateOptions{})
	case statefulSet:
		_, err = r.client.AppsV1().StatefulSets(w.namespace).Create(ctx, r.layout.statefulSet(w), metav1.CreateOptions{})
	case daemonSet:
		_, err = r.client.AppsV1().DaemonSets(w.namespace).Create(ctx, r.layout.daemonSet(w), metav1.CreateOptions{})
	case bare:
		err = r.createPods(ctx, w)
	case job:
		_, err = r.client.BatchV1().Jobs(w.namespace).Create(ctx, r.layout.job(w), metav1.CreateOptions{})
	default:
		err = fmt.Errorf("no controller makes pods of kind %s", w.spec.Kind)
	}
	return err
}

// createPods makes the pods that no controller makes.
func (r *run) createPods(ctx context.Context, w *work) error {
	template := r.layout.template(w)
	for i := range w.spec.Replicas {
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name = fmt.Sprintf("%s-%d", w.spec.Name, i)
		if _, err := r.client.CoreV1().Pods(w.namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// refuses says whether an answer is about the object, and would be given again.
func refuses(s metav1.Status) bool {
	switch s.Reason {
	case metav1.StatusReasonInvalid, metav1.StatusReasonForbidden, metav1.StatusReasonBadRequest, metav1.StatusReasonAlreadyExists:
		return true
	default:
		return false
	}
}

// newBarrier makes a DaemonSet for the node that was written last, as it is now.
func (r *run) newBarrier(ctx context.Context) (*work, error) {
	r.barriers++
	w := r.layout.barrier(r.barriers, r.last.node, r.last.turn)
	return w, r.create(ctx, w)
}

// discover writes the nodes that have to become otherwise by what runs on them now.
func (r *run) discover(ctx context.Context) error {
	var due map[*machine]*corev1.Node
	r.view.look(func(p *picture) {
		for _, m := range r.machines {
			if n := r.layout.due(p, m); n != nil {
				if due == nil {
					due = map[*machine]*corev1.Node{}
				}
				due[m] = n
			}
		}
	})
	if len(due) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for m, n := range due {
		group.Go(func() error {
			// Labels go with the status, as a kubelet's own do: one write a node.
			written, err := r.client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
			if err != nil {
				return said("write node "+m.node.Name, err)
			}
			m.written, m.turn = written, m.turn+1
			for _, g := range m.node.Grants {
				if _, ok := written.Status.Allocatable[g.Resource]; ok {
					m.granted[g.Resource] = true
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for m := range maps.Keys(due) {
		if err := r.wrote(m.written); err != nil {
			return err
		}
	}
	return nil
}

// wrote notes which node was written last.
func (r *run) wrote(n *corev1.Node) error {
	version, err := strconv.ParseUint(n.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("read the version of node %s: %w", n.Name, err)
	}
	if version > r.last.version {
		r.last = written{node: n.Name, turn: n.Labels[labelTurn], version: version}
	}
	return nil
}

// said is an error with what was being done; nil stays nil.
func said(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
