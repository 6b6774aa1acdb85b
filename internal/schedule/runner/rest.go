package runner

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unrest is what is still to happen.
type unrest struct {
	// why is something that is under way; empty: nothing is.
	why string
	// unmade are workloads whose controllers have seen them and have not made all pods:
	// they may be about to, or can't.
	unmade []*work
}

func (u unrest) String() string {
	if u.why == "" && len(u.unmade) > 0 {
		return fmt.Sprintf("%s has not made its pods", u.unmade[0])
	}
	return u.why
}

// over says whether nothing is left to happen.
func (u unrest) over() bool { return u.why == "" && len(u.unmade) == 0 }

// unrest says what of these workloads is still to happen. A pod that was refused is
// at rest, and so is a workload whose controller can't make its pods.
func (l *layout) unrest(p *picture, works []*work) unrest {
	var out unrest
	for _, w := range works {
		if w.refused != "" {
			continue
		}
		why, unmade := l.unrestOf(p, w)
		switch {
		case why != "":
			return unrest{why: fmt.Sprintf("%s: %s", w, why)}
		case unmade:
			out.unmade = append(out.unmade, w)
		}
	}
	return out
}

func (l *layout) unrestOf(p *picture, w *work) (why string, unmade bool) {
	account, ok := p.account(w)
	if !ok {
		return "not seen yet", false
	}
	if account.observed < account.generation {
		return "its controller has not seen it", false
	}
	pods := p.pods[w.of]
	n := int32(len(pods)) //nolint:gosec // a few pods
	stuck := p.trouble(w) != ""
	if n > account.desired || !stuck && account.current != n {
		return fmt.Sprintf("its controller has seen %d pods of %d", account.current, n), false
	}
	for _, pod := range pods {
		if why := pod.unrest(); why != "" && (!w.gang || !stuck) { // a gang that is not complete is not looked at
			return fmt.Sprintf("pod %s %s", pod.name, why), false
		}
	}
	if why := p.unrestOfGang(w, pods); why != "" && !stuck {
		return why, false
	}
	if n < account.desired && w.spec.Kind == bare {
		return fmt.Sprintf("%d of %d pods are seen", n, account.desired), false
	}
	return "", n < account.desired && !stuck
}

// unrestOfGang is what the scheduler has still to say of a pod group: it answers for
// the pods first. A gang was once read between the two.
func (p *picture) unrestOfGang(w *work, pods map[string]pod) string {
	scheduled, bound := p.gangs[w.spec.Name].scheduled, true
	for _, pod := range pods {
		bound = bound && pod.node != ""
	}
	switch {
	case !w.gang:
		return ""
	case scheduled != string(metav1.ConditionTrue) && scheduled != string(metav1.ConditionFalse):
		return "the scheduler has not answered for its pod group"
	case bound && scheduled != string(metav1.ConditionTrue):
		return "all its pods are bound, and its pod group does not say so yet"
	default:
		return ""
	}
}

func (p pod) unrest() string {
	switch {
	case p.deleting:
		return "is being deleted"
	case p.node != "", p.done(), p.refused, p.forsaken():
		return ""
	default:
		return "the scheduler has not answered"
	}
}

// forsaken says whether the pod waits for a scheduler that the control plane does
// not have.
func (p pod) forsaken() bool {
	return p.scheduler != "" && p.scheduler != corev1.DefaultSchedulerName
}

// trouble is what keeps the controller from making pods; empty when it has made all.
func (p *picture) trouble(w *work) string {
	account, _ := p.account(w)
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
func (l *layout) unrestOfBarrier(p *picture, w *work) unrest {
	if w.refused != "" {
		return unrest{why: "the barrier can't be made: " + w.refused}
	}
	if p.workloads[w.of].desired != 1 {
		return unrest{why: "the DaemonSet controller has not seen the node that was written last"}
	}
	return l.unrest(p, []*work{w})
}
