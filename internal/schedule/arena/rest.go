package arena

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// unrest says what of these workloads is still to happen; empty: nothing. A pod that
// was refused is at rest, and so is a workload whose controller says why it makes
// no pods.
func (l *layout) unrest(p *picture, works []*work) string {
	for _, w := range works {
		if w.refused != "" {
			continue
		}
		if why := l.unrestOf(p, w); why != "" {
			return fmt.Sprintf("%s %s of %s: %s", w.spec.Kind, w.spec.Name, w.component, why)
		}
	}
	return ""
}

func (l *layout) unrestOf(p *picture, w *work) string {
	account, ok := p.workloads[w.of]
	if !ok {
		return "not seen yet"
	}
	if account.observed < account.generation {
		return "its controller has not seen it"
	}
	stuck := p.trouble(w) != ""
	pods := p.pods[w.of]
	if n := int32(len(pods)); !stuck && (account.current != account.desired || n != account.desired) { //nolint:gosec // a few pods
		return fmt.Sprintf("%d of %d pods are made, and there are %d", account.current, account.desired, n)
	}
	for _, pod := range pods {
		if why := pod.unrest(); why != "" && (!w.gang || !stuck) { // a gang that is not complete is not looked at
			return fmt.Sprintf("pod %s: %s", pod.name, why)
		}
	}
	if ready := p.readyPods(w.of); account.ready != ready {
		return fmt.Sprintf("its controller has seen %d ready pods of %d", account.ready, ready)
	}
	return ""
}

func (p pod) unrest() string {
	switch {
	case p.deleting:
		return "is being deleted"
	case p.running(), p.done(), p.node == "" && p.refused, p.node == "" && p.forsaken():
		return ""
	case p.node == "":
		return "the scheduler has not answered"
	default:
		return "is bound and does not run yet"
	}
}

// forsaken says whether the pod waits for a scheduler that the control plane does
// not have.
func (p pod) forsaken() bool {
	return p.scheduler != "" && p.scheduler != corev1.DefaultSchedulerName
}

// trouble is what keeps the controller from making pods; empty when it has made all.
func (p *picture) trouble(w *work) string {
	account := p.workloads[w.of]
	if account.trouble != "" {
		return account.trouble
	}
	if account.current < account.desired || account.observed < account.generation {
		return p.troubles[w.of]
	}
	return ""
}

// unrestOfBarrier is as for a workload, but the barrier has one pod, and if the node
// has no room for it the scheduler has answered, which is all that is asked.
func (l *layout) unrestOfBarrier(p *picture, w *work) string {
	if w.refused != "" {
		return "the barrier can't be made: " + w.refused
	}
	if p.workloads[w.of].desired != 1 {
		return "the DaemonSet controller has not seen the last node"
	}
	if why := l.unrestOf(p, w); why != "" {
		return "the barrier: " + why
	}
	return ""
}
