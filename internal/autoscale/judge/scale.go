package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// hpa requires that the HPA desires more replicas than without load, for a value above its target.
func hpa(l lookup) Result {
	for _, d := range l.desiredSince(snapshot.MarkLoad) {
		if d.Desired > l.minReplicas() && d.Value != nil && *d.Value > l.scaleDownAt() && l.st.HPA != nil {
			return l.pass(d.At, l.st.HPA.Ref, "%d replicas desired, for %s at a target of %s each", d.Desired, l.desiredValue(d), l.value(l.st.HPA.Target))
		}
	}
	return l.wait(l.hpaRef(), l.whyNotScaled(), finding(suspect(l.hpaRef()),
		"see the HPA's events and kube-controller-manager's log; its sync period is "+l.interval(snapshot.SettingHPASync),
		"the HPA has not reacted to the value"))
}

// whyNotScaled reports why the HPA does not desire more, from its conditions.
func (l lookup) whyNotScaled() []check.Finding {
	h, name := l.st.HPA, suspect(l.hpaRef())
	if h == nil || h.Gone() {
		return []check.Finding{finding(name, "see the namespace's events and admission policies", "HPA not found: it was deleted or rejected")}
	}
	if out := l.hpaErrors(*h); len(out) > 0 {
		return out
	}
	if out := l.hpaSpecChanges(*h); len(out) > 0 {
		return out
	}
	if d, ok := l.desired(snapshot.MarkLoad); ok && d.Desired > l.minReplicas() {
		return []check.Finding{finding(name,
			"find out what scales it: other metrics of the HPA, another controller, a schedule",
			"the HPA desires %d replicas for the value %s, which is not above its target of %s", d.Desired, l.desiredValue(d), l.value(l.scaleDownAt()))}
	}
	if d, ok := l.desired(snapshot.MarkLoad); ok && d.Value != nil && *d.Value <= l.scaleAt() {
		return []check.Finding{finding(name,
			"see hop metrics-api; lower site autoscale.target below the power under load",
			"HPA target not reached: the value is %s, the HPA scales above %s (target %s per replica, tolerance %.0f %%)", l.value(*d.Value), l.value(l.scaleAt()), l.value(h.Target), tolerance*100)}
	}
	if len(h.Conditions) == 0 {
		return []check.Finding{finding(name,
			"check that kube-controller-manager runs the HPA controller",
			"the HPA has no conditions: its controller has not evaluated it")}
	}
	return nil
}

// hpaErrors reports an HPA that cannot scale or read its metric.
func (l lookup) hpaErrors(h snapshot.HPA) []check.Finding {
	var out []check.Finding
	if c, ok := snapshot.Is(h.Conditions, "AbleToScale"); !ok && c.Status != "" {
		out = append(out, finding(suspect(h.Ref),
			"see scaleTargetRef and the permissions of the HPA controller",
			"the HPA is not able to scale: %s: %s", c.Reason, c.Message))
	}
	if c, ok := snapshot.Is(h.Conditions, "ScalingActive"); !ok && c.Status != "" {
		out = append(out, finding(suspect(h.Ref),
			"see hop metrics-api: name, selector and namespace of the metric, and the adapter's log",
			"the HPA cannot read the metric: %s: %s", c.Reason, c.Message))
	}
	return out
}

// hpaSpecChanges reports an HPA whose spec differs from the one created.
func (l lookup) hpaSpecChanges(h snapshot.HPA) []check.Finding {
	var out []check.Finding
	name := suspect(h.Ref)
	if asked := l.setup.Scale.Target; math.Abs(h.Target-asked) > 1e-6*math.Abs(asked) {
		out = append(out, finding(name,
			"find out what changed the HPA: an admission policy, another controller",
			"the HPA's target is %s per replica, want %s: the value of %s does not reach it", l.value(h.Target), l.value(asked), l.newest()))
	}
	if c, limited := snapshot.Is(h.Conditions, "ScalingLimited"); h.Max <= l.minReplicas() || (limited && c.Reason == "TooManyReplicas") {
		out = append(out, finding(name,
			"raise maxReplicas; find out what lowered it",
			"the HPA has reached its maximum: maxReplicas is %d, want %d%s", h.Max, l.setup.Scale.Max, because(c.Message)))
	}
	return out
}

// newest is the newest value at the metrics API.
func (l lookup) newest() string {
	if api := l.good(l.st.API, snapshot.MarkLoad); len(api) > 0 {
		return l.value(api[len(api)-1].Value)
	}
	return "nothing"
}

// pods requires that the replicas that the HPA desires are created.
func pods(l lookup) Result {
	added := active(l.added())
	d, ok := l.desired(snapshot.MarkLoad)
	want := d.Desired - l.minReplicas()
	if ok && want > 0 && len(added) >= want {
		last := lastOf(added, func(p snapshot.Pod) time.Time { return p.First })
		return l.pass(last.First, last.Ref, "%s created: %s", count(len(added), "pod"), names(added, podRef))
	}
	wrong := l.createFailures()
	if l.st.HPA != nil {
		if c, fine := snapshot.Is(l.st.HPA.Conditions, "AbleToScale"); !fine && c.Status != "" {
			wrong = append(wrong, finding(suspect(l.hpaRef()),
				"see the permissions of the HPA controller",
				"the HPA cannot scale the Deployment: %s: %s", c.Reason, c.Message))
		}
	}
	return l.wait(l.hpaRef(), wrong, finding("Deployment of namespace "+l.setup.Namespace,
		"see the events of the Deployment and its ReplicaSet",
		"the HPA desires %d replicas; %d of %d new pods exist", d.Desired, len(added), max(want, 1)))
}

// createFailures reports pods that could not be created: quota, admission.
func (l lookup) createFailures() []check.Finding {
	var out []check.Finding
	for _, e := range l.st.Events {
		if e.Reason == "FailedCreate" || e.Reason == "ReplicaSetCreateError" {
			out = append(out, finding(suspect(e.About),
				"see the quotas and admission policies of the namespace",
				"%s could not create a pod: %s", suspect(e.About), e.Message))
		}
	}
	return out
}

// unschedulable requires a scheduler event for each new pod that no node has room.
func unschedulable(l lookup) Result {
	added := active(l.added())
	for _, p := range added {
		if _, events := l.rejection(p); !events && p.Node != "" {
			return l.fail(p.Ref, finding(suspect(p.Ref),
				"check that the pods keep their nodeSelector for the pool and their anti-affinity: an admission policy may remove them",
				"%s was bound to %s at once: no new node is needed, so the hop proves nothing", suspect(p.Ref), p.Node))
		}
	}
	waiting := only(added, func(p snapshot.Pod) bool { _, events := l.rejection(p); return !events })
	if len(added) == 0 || len(waiting) > 0 {
		p := firstOf(append(waiting, added...))
		return l.wait(p.Ref, l.queueFindings(waiting), finding(cmp.Or(suspect(p.Ref), "pods"),
			"check that scheduler "+cmp.Or(p.Scheduler, "default-scheduler")+" runs; see its log",
			"the scheduler has reported nothing about %s", cmp.Or(p.Name, "any new pod")))
	}
	at := func(p snapshot.Pod) time.Time { e, _ := l.rejection(p); return e.First }
	last := lastOf(added, at)
	e, _ := l.rejection(last)
	return l.pass(at(last), last.Ref, "%s unschedulable: %s", count(len(added), "pod"), short(e.Message))
}

// rejection is the scheduler's first rejection of a pod.
func (l lookup) rejection(p snapshot.Pod) (snapshot.Event, bool) {
	events := only(l.about(p.UID, "FailedScheduling", "Unschedulable"), func(e snapshot.Event) bool { return !l.fromAutoscaler(e) })
	if len(events) > 0 {
		slices.SortStableFunc(events, func(a, b snapshot.Event) int { return a.First.Compare(b.First) })
		return events[0], true
	}
	if c, scheduled := snapshot.Is(p.Conditions, "PodScheduled"); !scheduled && c.Reason == "Unschedulable" {
		return snapshot.Event{About: p.Ref, Reason: c.Reason, Message: c.Message, First: transitionTime(c)}, true
	}
	return snapshot.Event{}, false
}

// short is the first sentence of a message.
func short(s string) string {
	if i := strings.Index(s, ". "); i > 0 {
		return s[:i]
	}
	return strings.TrimSuffix(s, ".")
}
