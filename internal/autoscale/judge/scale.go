package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// hpa: the HPA desires more replicas than without load.
func hpa(l look) Result {
	for _, d := range l.desiredSince(snapshot.MarkLoad) {
		if d.Desired > l.least() && l.st.HPA != nil {
			return l.pass(d.At, l.st.HPA.Ref, "%d replicas desired, for %s at a target of %s each", d.Desired, l.desiredValue(d), l.value(l.st.HPA.Target))
		}
	}
	return l.wait(l.hpaRef(), []string{snapshot.ProblemHPA}, l.whyNotScaled(), finding(suspect(l.hpaRef()), "the HPA has not acted on the value", "see the HPA's events and kube-controller-manager's log; it looks every "+l.interval(snapshot.SettingHPASync)))
}

// whyNotScaled says why the HPA does not desire more, from its own conditions.
func (l look) whyNotScaled() []check.Finding {
	h, name := l.st.HPA, suspect(l.hpaRef())
	if h == nil || h.Gone() {
		return []check.Finding{finding(name, "there is no HPA: it was deleted, or refused", "see the namespace's events and admission policies")}
	}
	if out := l.hpaBroken(*h); len(out) > 0 {
		return out
	}
	if out := l.hpaChanged(*h); len(out) > 0 {
		return out
	}
	if d, ok := l.desired(snapshot.MarkLoad); ok && d.Value != nil && *d.Value <= l.scaleAt() {
		return []check.Finding{finding(name, fmt.Sprintf("HPA target not reached: it has the value %s, and acts above %s (target %s a replica, tolerance %.0f %%)", l.value(*d.Value), l.value(l.scaleAt()), l.value(h.Target), tolerance*100), "see hop metrics-api; lower site autoscale.target below what the load draws")}
	}
	if len(h.Conditions) == 0 {
		return []check.Finding{finding(name, "the HPA has no conditions: its controller has not looked at it", "see that kube-controller-manager runs the HPA controller")}
	}
	return nil
}

// hpaBroken says that the HPA can not do its work at all.
func (l look) hpaBroken(h snapshot.HPA) []check.Finding {
	var out []check.Finding
	if c, ok := snapshot.Is(h.Conditions, "AbleToScale"); !ok && c.Status != "" {
		out = append(out, finding(suspect(h.Ref), fmt.Sprintf("the HPA is not able to scale: %s: %s", c.Reason, c.Message), "see scaleTargetRef and the permissions of the HPA controller"))
	}
	if c, ok := snapshot.Is(h.Conditions, "ScalingActive"); !ok && c.Status != "" {
		out = append(out, finding(suspect(h.Ref), fmt.Sprintf("the HPA cannot read the metric: %s: %s", c.Reason, c.Message), "see hop metrics-api: name, selector and namespace of the metric, and the adapter's log"))
	}
	return out
}

// hpaChanged says that the HPA is not as it was asked for.
func (l look) hpaChanged(h snapshot.HPA) []check.Finding {
	var out []check.Finding
	name := suspect(h.Ref)
	if asked := l.setup.Scale.Target; math.Abs(h.Target-asked) > 1e-6*math.Abs(asked) {
		out = append(out, finding(name, fmt.Sprintf("the HPA's target is %s a replica, %s was asked for: the value of %s does not reach it", l.value(h.Target), l.value(asked), l.newest()), "find out what changed the HPA: an admission policy, another controller"))
	}
	if c, limited := snapshot.Is(h.Conditions, "ScalingLimited"); h.Max <= l.least() || (limited && c.Reason == "TooManyReplicas") {
		out = append(out, finding(name, fmt.Sprintf("the HPA has reached its maximum: maxReplicas is %d, %d was asked for%s", h.Max, l.setup.Scale.Max, because(c.Message)), "raise maxReplicas; find out what lowered it"))
	}
	return out
}

// newest is the newest value that anyone has of the metric.
func (l look) newest() string {
	if api := l.good(l.st.API, snapshot.MarkLoad); len(api) > 0 {
		return l.value(api[len(api)-1].Value)
	}
	return "nothing"
}

// pods: the replicas that the HPA desires are created.
func pods(l look) Result {
	fresh := alive(l.added())
	d, ok := l.desired(snapshot.MarkLoad)
	want := d.Desired - l.least()
	if ok && want > 0 && len(fresh) >= want {
		last := lastOf(fresh, func(p snapshot.Pod) time.Time { return p.First })
		return l.pass(last.First, last.Ref, "%s created: %s", count(len(fresh), "pod"), names(fresh, podRef))
	}
	wrong := l.refused()
	if l.st.HPA != nil {
		if c, fine := snapshot.Is(l.st.HPA.Conditions, "AbleToScale"); !fine && c.Status != "" {
			wrong = append(wrong, finding(suspect(l.hpaRef()), fmt.Sprintf("the HPA cannot scale the Deployment: %s: %s", c.Reason, c.Message), "see the permissions of the HPA controller"))
		}
	}
	return l.wait(l.hpaRef(), []string{snapshot.ProblemPods, snapshot.ProblemHPA}, wrong, finding("Deployment of namespace "+l.setup.Namespace, fmt.Sprintf("the HPA desires %d replicas, and %d of %d new pods exist", d.Desired, len(fresh), max(want, 1)), "see the events of the Deployment and its ReplicaSet"))
}

// refused are pods that could not be created: quota, admission.
func (l look) refused() []check.Finding {
	var out []check.Finding
	for _, e := range l.st.Events {
		if e.Reason == "FailedCreate" || e.Reason == "ReplicaSetCreateError" {
			out = append(out, finding(suspect(e.About), fmt.Sprintf("%s could not create a pod: %s", suspect(e.About), e.Message), "see the quotas and admission policies of the namespace"))
		}
	}
	return out
}

// unschedulable: the scheduler says of each new pod that no node has room.
func unschedulable(l look) Result {
	fresh := alive(l.added())
	for _, p := range fresh {
		if _, said := l.turnedDown(p); !said && p.Node != "" {
			return l.broken(p.Ref, finding(suspect(p.Ref), fmt.Sprintf("%s found room on %s at once: it did not overflow, so nothing has to scale", suspect(p.Ref), p.Node),
				"see that the pods keep their nodeSelector for the pool and their anti-affinity: an admission policy may take them away"))
		}
	}
	waiting := only(fresh, func(p snapshot.Pod) bool { _, said := l.turnedDown(p); return !said })
	if len(fresh) == 0 || len(waiting) > 0 {
		needs := []string{snapshot.ProblemPods, snapshot.ProblemEvents}
		p := head(append(waiting, fresh...))
		return l.wait(p.Ref, needs, l.queueFindings(waiting), finding(orElse(suspect(p.Ref), "pods"), fmt.Sprintf("the scheduler has said nothing about %s", orElse(p.Name, "any new pod")), "see that scheduler "+orElse(p.Scheduler, "default-scheduler")+" runs, and its log"))
	}
	at := func(p snapshot.Pod) time.Time { e, _ := l.turnedDown(p); return e.First }
	last := lastOf(fresh, at)
	e, _ := l.turnedDown(last)
	return l.pass(at(last), last.Ref, "%s have no room: %s", count(len(fresh), "pod"), short(e.Message))
}

// turnedDown is what the scheduler said first against a pod.
func (l look) turnedDown(p snapshot.Pod) (snapshot.Event, bool) {
	said := only(l.about(p.UID, "FailedScheduling", "Unschedulable"), func(e snapshot.Event) bool { return !l.fromAutoscaler(e) })
	if len(said) > 0 {
		slices.SortStableFunc(said, func(a, b snapshot.Event) int { return a.First.Compare(b.First) })
		return said[0], true
	}
	if c, scheduled := snapshot.Is(p.Conditions, "PodScheduled"); !scheduled && c.Reason == "Unschedulable" {
		return snapshot.Event{About: p.Ref, Reason: c.Reason, Message: c.Message, First: held(c)}, true
	}
	return snapshot.Event{}, false
}

// short is a message's first sentence.
func short(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i]
	}
	return strings.TrimSuffix(s, ".")
}
