package judge

import (
	"cmp"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// metricFalls requires that the load has ended and the value is below the target.
func metricFalls(l lookup) Result {
	still := only(l.role(snapshot.RoleLoad), func(p snapshot.Pod) bool { return !p.Gone() && p.Phase != "Succeeded" && p.Phase != "Failed" })
	if _, stopped := l.st.Marks[snapshot.MarkStop]; !stopped {
		return l.wait(snapshot.Ref{}, nil, finding("load", "run again", "the load was not stopped"))
	}
	if len(still) > 0 {
		p := still[0]
		return l.wait(p.Ref, nil, finding(suspect(p.Ref),
			"find out why it does not end: its grace period, the kubelet of its node",
			"%s of the load still runs on %s", suspect(p.Ref), p.Node))
	}
	good := l.good(l.st.API, snapshot.MarkStop)
	if first, ok := trailing(good, func(r snapshot.Reading) bool { return r.Value <= l.scaleDownAt() }); ok && lastError(l.st.API) == "" && l.scaleDownAt() > 0 {
		return l.pass(first.At, l.metricRef(), "%s = %s, not above %s", l.setup.Metric.Name, l.value(good[len(good)-1].Value), l.value(l.scaleDownAt()))
	}
	if len(good) == 0 || lastError(l.st.API) != "" {
		return l.wait(l.metricRef(), l.notServed(), check.Finding{})
	}
	return l.wait(l.metricRef(), l.componentFindings(), finding(l.metricRef().String(),
		"find out which other pods use GPUs of the value; "+l.interval(snapshot.SettingWindow),
		"the value is %s after the load ended, want at most %s; its series: %s", l.value(good[len(good)-1].Value), l.value(l.scaleDownAt()), l.components()))
}

// trailing returns the first item of the longest suffix for which ok holds.
func trailing[T any](list []T, ok func(T) bool) (T, bool) {
	var first T
	found := false
	for i := len(list) - 1; i >= 0 && ok(list[i]); i-- {
		first, found = list[i], true
	}
	return first, found
}

// hpaDown requires that the HPA desires the minimum again.
func hpaDown(l lookup) Result {
	all := l.desiredSince(snapshot.MarkLoad)
	stop := l.st.Marks[snapshot.MarkStop]
	first, ok := trailing(all, func(d snapshot.Desired) bool {
		return d.Desired <= l.minReplicas() && !stop.IsZero() && d.At.After(stop)
	})
	if ok && l.st.HPA != nil {
		return l.pass(first.At, l.st.HPA.Ref, "%s desired", count(first.Desired, "replica"))
	}
	return l.wait(l.hpaRef(), l.whyNotDown(), finding(suspect(l.hpaRef()),
		"see the HPA's events; its sync period is "+l.interval(snapshot.SettingHPASync),
		"the HPA still desires more than the minimum"))
}

func (l lookup) whyNotDown() []check.Finding {
	h, name := l.st.HPA, suspect(l.hpaRef())
	if h == nil || h.Gone() {
		return []check.Finding{finding(name, "find out which client deletes objects of the namespace", "HPA not found: it was deleted")}
	}
	if c, ok := snapshot.Is(h.Conditions, "ScalingActive"); !ok && c.Status != "" {
		return []check.Finding{finding(name,
			"see hop metric-falls; a holder must keep the metric served",
			"the HPA cannot read the metric and keeps the replica count: %s: %s", c.Reason, c.Message)}
	}
	if c, _ := snapshot.Is(h.Conditions, "AbleToScale"); c.Reason == "ScaleDownStabilized" {
		return []check.Finding{finding("setting "+snapshot.SettingStabilization,
			"shorten behavior.scaleDown.stabilizationWindowSeconds, or wait longer",
			"the HPA waits for its stabilization window (%s): %s", l.interval(snapshot.SettingStabilization), c.Message)}
	}
	if d, ok := l.desired(snapshot.MarkStop); ok && d.Value != nil && *d.Value > l.scaleDownAt() {
		return []check.Finding{finding(name, "see hop metric-falls", "the HPA still reports the value %s, above %s", l.value(*d.Value), l.value(l.scaleDownAt()))}
	}
	return nil
}

// podsGone requires that exactly the pods created under load are gone.
func podsGone(l lookup) Result {
	added, initial := l.added(), l.initial()
	if len(added) == 0 {
		return l.wait(snapshot.Ref{}, nil, finding("pods", "see hop pods", "no pods were created under load, so none can end"))
	}
	from := l.st.Marks[snapshot.MarkLoad]
	for _, p := range initial {
		if ended := cmp.Or(p.Deleting, p.Deleted); ended.After(from) {
			return l.fail(p.Ref, finding(suspect(p.Ref),
				"check that it keeps its annotation controller.kubernetes.io/pod-deletion-cost; find out what evicted it: kubectl get events",
				"%s, which existed before the load, was deleted instead of a new one (%s remain)", suspect(p.Ref), names(active(added), podRef)))
		}
	}
	for _, p := range added {
		if p.Gone() {
			continue
		}
		message := suspect(p.Ref) + " has not been deleted: the Deployment has not scaled down"
		if !p.Deleting.IsZero() {
			message = fmt.Sprintf("%s was deleted %s ago and still exists on %s", suspect(p.Ref), seconds(l.st.At.Sub(p.Deleting)), p.Node)
		}
		return l.wait(p.Ref, nil, finding(suspect(p.Ref), "see the pod's finalizers and grace period, and the kubelet of its node", "%s", message))
	}
	last := lastOf(added, func(p snapshot.Pod) time.Time { return p.Deleted })
	return l.pass(last.Deleted, last.Ref, "%s gone: %s", count(len(added), "pod"), names(added, podRef))
}
