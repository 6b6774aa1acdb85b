package judge

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// metricFalls: the load is gone, and the value is below the target again.
func metricFalls(l look) Result {
	needs := []string{snapshot.ProblemMetricsAPI, snapshot.ProblemPods}
	still := only(l.role(snapshot.RoleLoad), func(p snapshot.Pod) bool { return !p.Gone() && p.Phase != "Succeeded" && p.Phase != "Failed" })
	if _, stopped := l.st.Marks[snapshot.MarkStop]; !stopped {
		return l.wait(snapshot.Ref{}, needs, nil, finding("load", "the load was not stopped", "run again"))
	}
	if len(still) > 0 {
		p := still[0]
		return l.wait(p.Ref, needs, nil, finding(suspect(p.Ref), fmt.Sprintf("%s of the load still runs on %s", suspect(p.Ref), p.Node), "see why it does not end: its grace period, the kubelet of its node"))
	}
	good := l.good(l.st.API, snapshot.MarkStop)
	if first, ok := trailing(good, func(r snapshot.Reading) bool { return r.Value <= l.rest() }); ok && lastError(l.st.API) == "" && l.rest() > 0 {
		return l.pass(first.At, l.metricRef(), "%s = %s, not above %s", l.setup.Metric.Name, l.value(good[len(good)-1].Value), l.value(l.rest()))
	}
	if len(good) == 0 || lastError(l.st.API) != "" {
		return l.wait(l.metricRef(), needs, l.notServed(), check.Finding{})
	}
	return l.wait(l.metricRef(), needs, l.madeFindings(), finding(l.metricRef().String(), fmt.Sprintf("the value is %s though the load is gone, and has to fall to %s; it is made of %s", l.value(good[len(good)-1].Value), l.value(l.rest()), l.made()),
		"see who else uses GPUs of the value; "+l.interval(snapshot.SettingWindow)))
}

// trailing is the first item of the run at the end of a list for which ok holds.
func trailing[T any](list []T, ok func(T) bool) (T, bool) {
	var first T
	found := false
	for i := len(list) - 1; i >= 0 && ok(list[i]); i-- {
		first, found = list[i], true
	}
	return first, found
}

// hpaDown: the HPA desires the least again.
func hpaDown(l look) Result {
	all := l.desiredSince(snapshot.MarkLoad)
	stop := l.st.Marks[snapshot.MarkStop]
	first, ok := trailing(all, func(d snapshot.Desired) bool { return d.Desired <= l.least() && !stop.IsZero() && d.At.After(stop) })
	if ok && l.st.HPA != nil {
		return l.pass(first.At, l.st.HPA.Ref, "%s desired", count(first.Desired, "replica"))
	}
	return l.wait(l.hpaRef(), []string{snapshot.ProblemHPA}, l.whyNotDown(), finding(suspect(l.hpaRef()), "the HPA still desires more than the least", "see the HPA's events; it looks every "+l.interval(snapshot.SettingHPASync)))
}

func (l look) whyNotDown() []check.Finding {
	h, name := l.st.HPA, suspect(l.hpaRef())
	if h == nil || h.Gone() {
		return []check.Finding{finding(name, "there is no HPA: it was deleted", "see who deletes objects of the namespace")}
	}
	if c, ok := snapshot.Is(h.Conditions, "ScalingActive"); !ok && c.Status != "" {
		return []check.Finding{finding(name, fmt.Sprintf("the HPA cannot read the metric, so it leaves the replicas as they are: %s: %s", c.Reason, c.Message), "see hop metric-falls; a holder must keep the metric served")}
	}
	if c, _ := snapshot.Is(h.Conditions, "AbleToScale"); c.Reason == "ScaleDownStabilized" {
		return []check.Finding{finding("setting "+snapshot.SettingStabilization, fmt.Sprintf("the HPA waits out its stabilization window (%s): %s", l.interval(snapshot.SettingStabilization), c.Message), "shorten behavior.scaleDown.stabilizationWindowSeconds, or wait longer")}
	}
	if d, ok := l.desired(snapshot.MarkStop); ok && d.Value != nil && *d.Value > l.rest() {
		return []check.Finding{finding(name, fmt.Sprintf("the HPA still has the value %s, above %s", l.value(*d.Value), l.value(l.rest())), "see hop metric-falls")}
	}
	return nil
}

// podsGone: the pods that the load brought have ended, and no others.
func podsGone(l look) Result {
	added, kept := l.added(), l.kept()
	needs := []string{snapshot.ProblemPods}
	if len(added) == 0 {
		return l.wait(snapshot.Ref{}, needs, nil, finding("pods", "the load brought no pods, so none can end", "see hop pods"))
	}
	from := l.st.Marks[snapshot.MarkLoad]
	for _, p := range kept {
		if p.Deleted.After(from) || p.Deleting.After(from) {
			return l.broken(p.Ref, finding(suspect(p.Ref), fmt.Sprintf("%s, which was there before the load, was deleted instead of a new one (%s stay)", suspect(p.Ref), names(alive(added), podRef)),
				"see that it keeps its annotation controller.kubernetes.io/pod-deletion-cost, and who evicted it: kubectl get events"))
		}
	}
	for _, p := range added {
		if p.Gone() {
			continue
		}
		message := suspect(p.Ref) + " has not been deleted: the Deployment has not scaled down"
		if !p.Deleting.IsZero() {
			message = fmt.Sprintf("%s was deleted %s ago and is still there, on %s", suspect(p.Ref), seconds(l.st.At.Sub(p.Deleting)), p.Node)
		}
		return l.wait(p.Ref, needs, nil, finding(suspect(p.Ref), message, "see the pod's finalizers and grace period, and the kubelet of its node"))
	}
	last := lastOf(added, func(p snapshot.Pod) time.Time { return p.Deleted })
	return l.pass(last.Deleted, last.Ref, "%s gone: %s", count(len(added), "pod"), names(added, podRef))
}
