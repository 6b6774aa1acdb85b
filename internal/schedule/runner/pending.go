package runner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pending describes the changes that are still expected.
type pending struct {
	// reason describes a change in progress; empty without one.
	reason string
	// incomplete are workloads whose controllers have observed them but not created all pods.
	incomplete []*workload
}

func (u pending) String() string {
	if u.reason == "" && len(u.incomplete) > 0 {
		return fmt.Sprintf("%s has not created its pods", u.incomplete[0])
	}
	return u.reason
}

// over reports that no change is expected.
func (u pending) over() bool { return u.reason == "" && len(u.incomplete) == 0 }

// pending returns the expected changes of workloads. An unschedulable pod and a workload
// whose controller cannot create pods expect none.
func (l *layout) pending(p *objectSet, workloads []*workload) pending {
	var out pending
	for _, w := range workloads {
		if w.rejected != "" {
			continue
		}
		reason, incomplete := l.pendingWorkload(p, w)
		switch {
		case reason != "":
			return pending{reason: fmt.Sprintf("%s: %s", w, reason)}
		case incomplete:
			out.incomplete = append(out.incomplete, w)
		}
	}
	return out
}

func (l *layout) pendingWorkload(p *objectSet, w *workload) (reason string, incomplete bool) {
	status, ok := p.status(w)
	if !ok {
		return "not observed yet", false
	}
	if status.observed < status.generation {
		return "its controller has not observed it", false
	}
	pods := p.pods[w.key]
	n := int32(len(pods)) //nolint:gosec // a few pods
	stuck := p.problem(w) != ""
	if n > status.desired || !stuck && status.current != n {
		return fmt.Sprintf("its controller has observed %d of %d pods", status.current, n), false
	}
	for _, pod := range pods {
		if reason := pod.pending(); reason != "" && (!w.gang || !stuck) { // an incomplete gang is not evaluated
			return fmt.Sprintf("pod %s %s", pod.name, reason), false
		}
	}
	if reason := p.pendingGang(w, pods); reason != "" && !stuck {
		return reason, false
	}
	if n < status.desired && w.spec.Kind == bare {
		return fmt.Sprintf("%d of %d pods are observed", n, status.desired), false
	}
	return "", n < status.desired && !stuck
}

// pendingGang reports a pod group whose status the scheduler has not updated yet. It
// updates the pods first.
func (p *objectSet) pendingGang(w *workload, pods map[string]pod) string {
	scheduled, bound := p.gangs[w.spec.Name].scheduled, true
	for _, pod := range pods {
		bound = bound && pod.node != ""
	}
	switch {
	case !w.gang:
		return ""
	case scheduled != string(metav1.ConditionTrue) && scheduled != string(metav1.ConditionFalse):
		return "the scheduler has not updated its pod group"
	case bound && scheduled != string(metav1.ConditionTrue):
		return "all its pods are bound, but its pod group is not scheduled yet"
	default:
		return ""
	}
}

func (p pod) pending() string {
	switch {
	case p.deleting:
		return "is being deleted"
	case p.node != "", p.done(), p.rejected, p.otherScheduler():
		return ""
	default:
		return "the scheduler has not evaluated it"
	}
}

// otherScheduler reports whether the pod waits for a scheduler that does not run here.
func (p pod) otherScheduler() bool {
	return p.scheduler != "" && p.scheduler != corev1.DefaultSchedulerName
}

// problem is why the controller cannot create pods; empty once it has created all.
func (p *objectSet) problem(w *workload) string {
	status, _ := p.status(w)
	if status.problem != "" {
		return status.problem
	}
	if status.current < status.desired || status.observed < status.generation {
		return p.problems[w.key]
	}
	return ""
}

// pendingBarrier is pending for a barrier, which has one pod. An unschedulable pod is
// sufficient: the scheduler has evaluated it.
func (l *layout) pendingBarrier(p *objectSet, w *workload) pending {
	if w.rejected != "" {
		return pending{reason: "cannot create the barrier: " + w.rejected}
	}
	if p.statuses[w.key].desired != 1 {
		return pending{reason: "the DaemonSet controller has not observed the last node update"}
	}
	return l.pending(p, []*workload{w})
}
