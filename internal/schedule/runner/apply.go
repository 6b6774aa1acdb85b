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

// maxRequests bounds the concurrent requests of one scenario.
const maxRequests = 4

// createAll creates nodes, namespaces where a pod selects by them, then the components'
// workloads. (Without namespace admission the API server requires no namespaces.)
func (r *run) createAll(ctx context.Context) error {
	group, making := errgroup.WithContext(ctx)
	group.SetLimit(maxRequests)
	for _, name := range r.layout.selected() {
		group.Go(func() error {
			_, err := r.client.CoreV1().Namespaces().Create(making, r.layout.namespace(name), metav1.CreateOptions{})
			return wrapErr("create namespace "+name, err)
		})
	}
	nodes := make([]*corev1.Node, len(r.layout.scenario.Nodes))
	for i, n := range r.layout.scenario.Nodes {
		group.Go(func() (err error) {
			nodes[i], err = r.client.CoreV1().Nodes().Create(making, r.layout.node(n), metav1.CreateOptions{})
			return wrapErr("create node "+n.Name, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, n := range r.layout.scenario.Nodes {
		if n.Control == "" {
			r.ownNodes = append(r.ownNodes, &ownNode{node: n, nodeVersion: nodes[i], granted: map[corev1.ResourceName]bool{}})
		}
		if err := r.recordWrite(nodes[i]); err != nil {
			return err
		}
	}
	return r.create(ctx, r.layout.components...)
}

// create creates workloads. A rejection by the API server is a result of the workload, not
// an error.
func (r *run) create(ctx context.Context, workloads ...*workload) error {
	r.view.make(workloads...)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxRequests)
	for _, w := range workloads {
		group.Go(func() error {
			err := r.createOne(ctx, w)
			if status, ok := errors.AsType[*apierrors.StatusError](err); ok && isRejection(status.Status()) {
				r.view.read(func(*objectSet) { w.rejected = status.Error() })
				return nil
			}
			return wrapErr("create "+w.String(), err)
		})
	}
	return group.Wait()
}

func (r *run) createOne(ctx context.Context, w *workload) error {
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
		err = fmt.Errorf("unknown workload kind %s", w.spec.Kind)
	}
	return err
}

// createPods creates pods without a controller.
func (r *run) createPods(ctx context.Context, w *workload) error {
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

// isRejection reports whether the API server would reject the object again.
func isRejection(s metav1.Status) bool {
	switch s.Reason {
	case metav1.StatusReasonInvalid, metav1.StatusReasonForbidden, metav1.StatusReasonBadRequest, metav1.StatusReasonAlreadyExists:
		return true
	default:
		return false
	}
}

// newBarrier creates a DaemonSet for the newest version of the last updated node.
func (r *run) newBarrier(ctx context.Context) (*workload, error) {
	r.barriers++
	w := r.layout.barrier(r.barriers, r.last.node, r.last.round)
	return w, r.create(ctx, w)
}

// applyDiscovery updates the nodes whose running pods add labels or resources.
func (r *run) applyDiscovery(ctx context.Context) error {
	var nextVersion map[*ownNode]*corev1.Node
	r.view.read(func(p *objectSet) {
		for _, m := range r.ownNodes {
			if n := r.layout.nextVersion(p, m); n != nil {
				if nextVersion == nil {
					nextVersion = map[*ownNode]*corev1.Node{}
				}
				nextVersion[m] = n
			}
		}
	})
	if len(nextVersion) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxRequests)
	for m, n := range nextVersion {
		group.Go(func() error {
			// UpdateStatus also writes labels: one request per node.
			nodeVersion, err := r.client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
			if err != nil {
				return wrapErr("update node "+m.node.Name, err)
			}
			m.nodeVersion, m.round = nodeVersion, m.round+1
			for _, g := range m.node.Grants {
				if _, ok := nodeVersion.Status.Allocatable[g.Resource]; ok {
					m.granted[g.Resource] = true
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for m := range maps.Keys(nextVersion) {
		if err := r.recordWrite(m.nodeVersion); err != nil {
			return err
		}
	}
	return nil
}

// recordWrite records the newest node update.
func (r *run) recordWrite(n *corev1.Node) error {
	version, err := strconv.ParseUint(n.ResourceVersion, 10, 64)
	if err != nil {
		return fmt.Errorf("cannot read the resource version of node %s: %w", n.Name, err)
	}
	if version > r.last.version {
		r.last = nodeVersion{node: n.Name, round: n.Labels[labelRound], version: version}
	}
	return nil
}

// wrapErr adds the operation to an error; nil stays nil.
func wrapErr(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
