package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// placed requires the first replica on a node of the pool (with Stay, on an initial
// node) and the idle holder on an initial GPU node.
func placed(l lookup) Result {
	workers, holders := active(l.initial()), active(l.role(snapshot.RoleHolder))
	if _, began := l.st.Marks[snapshot.MarkPlaced]; !began || len(workers) == 0 || len(holders) == 0 {
		return l.wait(snapshot.Ref{}, l.createFailures(), finding("namespace "+l.setup.Namespace,
			"see the events of the Deployment and the Job in the namespace: quota, admission",
			"%s and %s of the run exist; need one of each", count(len(workers), "replica"), count(len(holders), "holder")))
	}
	if strays := only(workers, func(p snapshot.Pod) bool { return p.Node != "" && !l.onExpectedNode(p) }); len(strays) > 0 {
		return l.fail(strays[0].Ref, l.misplaced(strays[0]))
	}
	if waiting := only(append(slices.Clone(workers), holders...), func(p snapshot.Pod) bool { return !running(p) }); len(waiting) > 0 {
		return l.wait(waiting[0].Ref, l.whyNotRunning(waiting), finding(suspect(waiting[0].Ref),
			"see its events",
			"%s is not running", suspect(waiting[0].Ref)))
	}
	if away := only(holders, func(p snapshot.Pod) bool { return !l.existed(p.Node) }); len(away) > 0 {
		return l.fail(away[0].Ref, finding(suspect(away[0].Ref),
			"free a GPU on a node of the inventory",
			"the holder %s runs on %s, which is not an initial GPU node", suspect(away[0].Ref), away[0].Node))
	}
	at := latest(append(slices.Clone(workers), holders...), func(p snapshot.Pod) time.Time { return p.ReadyAt })
	return l.pass(at, workers[0].Ref, "%s on %s of %s; holder on %s", count(len(workers), "replica"), workers[0].Node, cmp.Or(l.setup.Pool.Name, "the inventory"), holders[0].Node)
}

// onExpectedNode reports whether a replica is on a node that it may use without load.
func (l lookup) onExpectedNode(p snapshot.Pod) bool {
	if l.setup.Pool.Stay {
		return l.existed(p.Node)
	}
	return l.inPool(p)
}

// existed reports whether a node existed before the run.
func (l lookup) existed(node string) bool {
	return slices.ContainsFunc(l.setup.Before, func(r snapshot.Ref) bool { return r.Name == node })
}

// inPool reports whether a pod is on a node of the run's pool.
func (l lookup) inPool(p snapshot.Pod) bool {
	for _, n := range slices.Backward(l.st.Nodes) {
		if n.Name == p.Node {
			return n.Pool == l.setup.Pool.Name
		}
	}
	return l.existed(p.Node) && l.setup.BeforePools[p.Node] == l.setup.Pool.Name && l.setup.Pool.Name != ""
}

// flat requires that nothing scales during the control window.
func flat(l lookup) Result {
	from, began := l.st.Marks[snapshot.MarkWindow]
	to, ended := l.st.Marks[snapshot.MarkWindowTo]
	until := to
	if !ended {
		until = l.st.At
	}
	in := func(t time.Time) bool { return began && t.After(from) && !t.After(until) }
	if wrong := l.scaled(in, until); began && len(wrong) > 0 {
		return l.fail(l.hpaRef(), wrong...)
	}
	if undecided := l.unexplained(in); began && len(undecided) > 0 {
		return l.unobserved(l.hpaRef(), undecided...)
	}
	if !began || to.Sub(from) < l.setup.Window.Duration || l.setup.Window.Duration <= 0 {
		return l.unobserved(l.hpaRef(), finding("control window", "run again", "the control window of %s was not observed to its end", seconds(l.setup.Window.Duration)))
	}
	readings := only(l.st.API, func(r snapshot.Reading) bool { return in(r.At) && r.Err == "" })
	if few := l.inconclusive(readings, from, to); few.Message != "" {
		return l.finalUnobserved(l.hpaRef(), few)
	}
	highest := slices.MaxFunc(readings, func(a, b snapshot.Reading) int { return cmp.Compare(a.Value, b.Value) })
	return l.pass(to, l.hpaRef(), "%s of at most %s (target %s): nothing scaled, no node was added in %s%s%s", count(len(readings), "reading"), l.value(highest.Value), l.value(l.setup.Scale.Target), seconds(to.Sub(from)), l.replacements(in), l.otherActivity())
}

// inconclusive reports a window that proves nothing: it has too few readings, or the HPA
// did not desire the minimum.
func (l lookup) inconclusive(readings []snapshot.Reading, from, to time.Time) check.Finding {
	if gap := longestGap(readings, from, to); len(readings) < minReadings || gap > l.setup.Window.Duration/2 {
		return finding("control window",
			"find out why the metrics API answers rarely; increase site autoscale.window",
			"only %s of the metric in a window of %s, with a gap of %s: too few to prove that it was flat", count(len(readings), "reading"), seconds(to.Sub(from)), seconds(gap))
	}
	if d := l.desiredAt(to); l.st.HPA == nil || d.Desired != l.minReplicas() {
		return finding(cmp.Or(suspect(l.hpaRef()), "HPA"),
			"see the HPA's conditions; check that the HPA controller of kube-controller-manager runs",
			"the HPA desired %d replicas in the window, want %d: it is not active, so the window proves nothing", d.Desired, l.minReplicas())
	}
	return check.Finding{}
}

// desiredAt is the HPA status at time t.
func (l lookup) desiredAt(t time.Time) snapshot.Desired {
	return lastOf(only(l.st.Desired, func(d snapshot.Desired) bool { return !d.At.After(t) }), func(d snapshot.Desired) time.Time { return d.At })
}

// minReadings is the number of readings that a control window needs.
const minReadings = 3

func longestGap(readings []snapshot.Reading, from, to time.Time) time.Duration {
	longest, last := time.Duration(0), from
	for _, r := range readings {
		longest, last = max(longest, r.At.Sub(last)), r.At
	}
	return max(longest, to.Sub(last))
}

const noLoadRemedy = "find out what scaled it without load: the series of the value, the HPA's target, another controller"

// scaled reports every scaling action in the control window.
func (l lookup) scaled(in func(time.Time) bool, until time.Time) []check.Finding {
	out := l.scaleRequests(in, until)
	for _, p := range only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return in(p.First) }) {
		if n := len(l.workersAt(p.First)); n > l.minReplicas() {
			out = append(out, finding(suspect(p.Ref),
				noLoadRemedy,
				"%s was created without load: it was one of %s, the minimum is %d", suspect(p.Ref), count(n, "replica"), l.minReplicas()))
		}
	}
	for _, c := range only(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && in(c.First) && l.forTheRun(c) }) {
		out = append(out, finding("NodeClaim "+c.Name, noLoadRemedy, "NodeClaim %s of %s was created without load", c.Name, c.Pool))
	}
	for _, n := range only(l.st.Nodes, func(n snapshot.Node) bool { return n.Ours && in(n.First) && l.usedByTheRun(n) }) {
		out = append(out, finding(suspect(n.Ref), noLoadRemedy, "%s of %s was added without load", suspect(n.Ref), n.Pool))
	}
	return out
}

// unexplained reports claims and nodes of the control window for which nothing tells yet whether they are for the run or for
// another workload: the pod of another workload is bound minutes after its claim is created.
func (l lookup) unexplained(in func(time.Time) bool) []check.Finding {
	const remedy = "find out which pod it was made for, then run again; a NodePool of the run's own is not used by others while theirs have room"
	var out []check.Finding
	for _, c := range only(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && in(c.First) && !l.forOtherWorkloads(c) }) {
		out = append(out, finding("NodeClaim "+c.Name, remedy, "NodeClaim %s of %s was created without load, and no pod shows which workload it is for", c.Name, c.Pool))
	}
	for _, n := range only(l.st.Nodes, func(n snapshot.Node) bool { return n.Ours && in(n.First) && !foreign(n) }) {
		out = append(out, finding(suspect(n.Ref), remedy, "%s of %s was added without load, and no pod shows which workload it is for", suspect(n.Ref), n.Pool))
	}
	return out
}

// forTheRun reports whether a claim was nominated for a pod of the run, or one is on its node.
func (l lookup) forTheRun(c snapshot.Claim) bool {
	n, ok := l.nodeOf(c)
	return l.claimed(c) || ok && l.usedByTheRun(n)
}

// usedByTheRun reports whether a pod of the run is or was on a node.
func (l lookup) usedByTheRun(n snapshot.Node) bool {
	return usedBy(n, l.st.Pods) || slices.ContainsFunc(n.Holders, func(h snapshot.Holder) bool { return h.Ours })
}

// workersAt lists the replicas that were active at time t, so that a replacement does
// not count as an additional replica.
func (l lookup) workersAt(t time.Time) []snapshot.Pod {
	return only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool {
		ended := func(at time.Time) bool { return !at.IsZero() && !at.After(t) }
		return !p.First.After(t) && !ended(p.Deleting) && !ended(p.Deleted) && p.Phase != "Failed" && p.Phase != "Succeeded"
	})
}

// replacements describes the replicas created in the window to replace deleted ones.
func (l lookup) replacements(in func(time.Time) bool) string {
	n := len(only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return in(p.First) }))
	if n == 0 {
		return ""
	}
	return " (" + count(n, "replica") + " replaced deleted ones)"
}

// scaleRequests reports a metric above the target or an HPA that desired more replicas.
func (l lookup) scaleRequests(in func(time.Time) bool, until time.Time) []check.Finding {
	var out []check.Finding
	high := only(l.st.API, func(r snapshot.Reading) bool { return in(r.At) && r.Err == "" && r.Value > l.scaleDownAt() })
	if len(high) > 0 {
		out = append(out, finding(l.metricRef().String(),
			"raise site autoscale.target above the power of idle GPUs, or find out which pods use the GPUs of the value: "+l.components(),
			"the metric was %s without load, above the target of %s", l.value(high[0].Value), l.value(l.scaleDownAt())))
	}
	more := only(append(slices.Clone(l.st.Desired), l.desiredAt(until)), func(d snapshot.Desired) bool {
		return d.Desired > l.minReplicas() && (in(d.At) || d == l.desiredAt(until))
	})
	if len(more) > 0 {
		out = append(out, finding(suspect(l.hpaRef()),
			noLoadRemedy,
			"%s desired %d replicas without load (value %s)", suspect(l.hpaRef()), more[0].Desired, l.desiredValue(more[0])))
	}
	return out
}

// forOtherWorkloads reports whether a claim of the run's pools was made for other
// workloads: it was nominated for no pod of the run, none was on its node, and only other pods run there.
func (l lookup) forOtherWorkloads(c snapshot.Claim) bool {
	n, ok := l.nodeOf(c)
	return ok && foreign(n) && !usedBy(n, l.st.Pods) && !l.claimed(c)
}

// foreign reports whether a node runs pods of other workloads only.
func foreign(n snapshot.Node) bool {
	theirs := false
	for _, h := range n.Holders {
		if h.Ours {
			return false
		}
		theirs = theirs || !h.Daemon
	}
	return theirs
}

func (l lookup) desiredValue(d snapshot.Desired) string {
	if d.Value == nil {
		return "none"
	}
	return l.value(*d.Value)
}

// components lists the series of the value.
func (l lookup) components() string {
	var out []string
	for _, s := range l.st.Made {
		out = append(out, fmt.Sprintf("%s/gpu%s %s (%s)", s.Node, s.GPU, l.value(s.Value), podUsing(s)))
	}
	return listOrNone(out)
}

// served requires a value at the metrics API that agrees with Prometheus and contains the
// holder's GPUs and no others.
func served(l lookup) Result {
	api := l.good(l.st.API, snapshot.MarkPlaced)
	wrong := append(l.valueFindings(snapshot.MarkPlaced), l.componentFindings()...)
	holders := active(l.role(snapshot.RoleHolder))
	gpus := 0
	for _, p := range holders {
		gpus += p.GPUs
	}
	if len(wrong) == 0 && (gpus == 0 || len(l.st.Made) != gpus) {
		wrong = append(wrong, finding("series "+l.setup.Metric.Series,
			"check that dcgm-exporter labels the GPU that the holder uses",
			"the value consists of %d series, the holder has %s: %s", len(l.st.Made), count(gpus, "GPU"), l.components()))
	}
	if failure := lastError(l.st.API); len(wrong) == 0 && (failure != "" || len(api) == 0) {
		wrong = append(wrong, l.notServed()...)
	}
	if len(wrong) > 0 {
		return l.wait(l.metricRef(), wrong, check.Finding{})
	}
	return l.pass(api[0].At, l.metricRef(), "%s is %s, as in Prometheus; series: %s", l.setup.Metric.Name, l.value(api[len(api)-1].Value), l.components())
}

// limitZero requires that the pod of the pool with limit 0 stays Pending, that Karpenter
// names the limit as the reason, and that no claim exists.
func limitZero(l lookup) Result {
	zero, name := l.role(snapshot.RoleZero), l.setup.Pool.Zero
	if i := slices.IndexFunc(l.st.Claims, func(c snapshot.Claim) bool { return c.Pool == name }); i >= 0 {
		c := l.st.Claims[i]
		return l.fail(c.Ref, finding("NodeClaim "+c.Name,
			"the limit was not enforced: see spec.limits of the stored NodePool and Karpenter's log",
			"NodeClaim %s was made for NodePool %s, whose limit is nvidia.com/gpu: 0", c.Name, name))
	}
	if i := slices.IndexFunc(zero, func(p snapshot.Pod) bool { return p.Node != "" }); i >= 0 {
		return l.fail(zero[i].Ref, l.misplaced(zero[i]))
	}
	if len(zero) == 0 {
		return l.wait(snapshot.Ref{}, l.createFailures(), finding("namespace "+l.setup.Namespace,
			"see the events of the namespace: quota, admission",
			"the pod for NodePool %s does not exist", name))
	}
	pod := zero[0]
	events := l.refusals(pod)
	limit := only(events, func(e snapshot.Event) bool { return limitOf(e.Message, name) })
	switch {
	case len(events) == 0:
		return l.unobserved(pod.Ref, finding(l.autoscaler(),
			"check that Karpenter runs; see its log",
			"%s has not evaluated %s: its Pending phase proves nothing", l.autoscaler(), suspect(pod.Ref)))
	case len(limit) == 0:
		return l.unobserved(pod.Ref, finding(suspect(pod.Ref),
			"correct the cause that Karpenter reports, then run again",
			"%s is Pending for a reason other than the limit: %s", suspect(pod.Ref), events[len(events)-1].Message))
	case l.st.Marks[snapshot.MarkWindowTo].IsZero():
		return l.unobserved(pod.Ref, finding("control window", "run again", "the control window is not over"))
	default:
		return l.pass(latest(limit, func(e snapshot.Event) time.Time { return e.First }), pod.Ref, "%s stayed Pending: Karpenter refused it because of the limit of NodePool %s and created no claim", suspect(pod.Ref), name)
	}
}

// refusals are the autoscaler's events that reject a pod.
func (l lookup) refusals(p snapshot.Pod) []snapshot.Event {
	return only(l.about(p.UID, "FailedScheduling", "NotTriggerScaleUp"), func(e snapshot.Event) bool { return l.fromAutoscaler(e) })
}

// fromAutoscaler distinguishes the autoscaler's FailedScheduling from the scheduler's.
func (l lookup) fromAutoscaler(e snapshot.Event) bool {
	return e.Reason == "NotTriggerScaleUp" || strings.Contains(e.From, karpenter) || strings.HasPrefix(e.Message, "Failed to schedule pod, ")
}

// isLimit matches the two messages that Karpenter prints for an exhausted NodePool limit.
func isLimit(message string) bool {
	return strings.Contains(message, "exceed limits for nodepool") || strings.Contains(message, "limits have been exhausted for nodepool")
}

// limitOf reports whether a message names the exhausted limit of a NodePool. Karpenter joins
// the reasons of all NodePools with semicolons; a reason that names none is of the pod's own.
func limitOf(message, pool string) bool {
	return slices.ContainsFunc(strings.Split(message, "; "), func(reason string) bool {
		if !isLimit(reason) {
			return false
		}
		named := poolName.FindStringSubmatch(reason)
		return named == nil || named[1] == pool
	})
}

// poolName matches the NodePool of a reason. Karpenter up to 1.3 writes: limits for nodepool: "NAME", incompatible with
// nodepool "NAME".
var poolName = regexp.MustCompile(`(?:NodePool=|nodepool:? ")([a-z0-9.-]+)`)
