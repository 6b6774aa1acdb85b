package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// placed: the first replica runs on a node of the pool, or on one that was there
// where it is to stay; the idle holder on a GPU that was there.
func placed(l look) Result {
	needs := []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}
	workers, holders := alive(l.kept()), alive(l.role(snapshot.RoleHolder))
	if _, began := l.st.Marks[snapshot.MarkPlaced]; !began || len(workers) == 0 || len(holders) == 0 {
		return l.wait(snapshot.Ref{}, needs, l.refused(), finding("namespace "+l.setup.Namespace, fmt.Sprintf("%s and %s of the run exist, one of each is needed", count(len(workers), "replica"), count(len(holders), "holder")),
			"see the events of the Deployment and the Job in the namespace: quota, admission"))
	}
	if strays := only(workers, func(p snapshot.Pod) bool { return p.Node != "" && !l.home(p) }); len(strays) > 0 {
		return l.broken(strays[0].Ref, l.elsewhere(strays[0]))
	}
	if waiting := only(append(slices.Clone(workers), holders...), func(p snapshot.Pod) bool { return !runs(p) }); len(waiting) > 0 {
		return l.wait(waiting[0].Ref, needs, l.whyNotRunning(waiting), finding(suspect(waiting[0].Ref), suspect(waiting[0].Ref)+" does not run", "see its events"))
	}
	if away := only(holders, func(p snapshot.Pod) bool { return !l.there(p.Node) }); len(away) > 0 {
		return l.broken(away[0].Ref, finding(suspect(away[0].Ref), fmt.Sprintf("the holder %s runs on %s, which is none of the GPU nodes that were there", suspect(away[0].Ref), away[0].Node), "free a GPU on a node of the inventory"))
	}
	at := latest(append(slices.Clone(workers), holders...), func(p snapshot.Pod) time.Time { return p.ReadyAt })
	return l.pass(at, workers[0].Ref, "%s on %s of %s; holder on %s", count(len(workers), "replica"), workers[0].Node, orElse(l.setup.Pool.Name, "the inventory"), holders[0].Node)
}

// home says that a replica is where it belongs without load.
func (l look) home(p snapshot.Pod) bool {
	if l.setup.Pool.Stay {
		return l.there(p.Node)
	}
	return l.inPool(p)
}

// there says that a node was there before the run.
func (l look) there(node string) bool {
	return slices.ContainsFunc(l.setup.Before, func(r snapshot.Ref) bool { return r.Name == node })
}

// inPool says that a pod is on a node of the run's pool.
func (l look) inPool(p snapshot.Pod) bool {
	for _, n := range slices.Backward(l.st.Nodes) {
		if n.Name == p.Node {
			return n.Pool == l.setup.Pool.Name
		}
	}
	return l.there(p.Node) && l.setup.BeforePools[p.Node] == l.setup.Pool.Name && l.setup.Pool.Name != ""
}

// flat: with the metric below the target nothing scales, for the window.
func flat(l look) Result {
	from, began := l.st.Marks[snapshot.MarkWindow]
	to, ended := l.st.Marks[snapshot.MarkWindowTo]
	until := to
	if !ended {
		until = l.st.At
	}
	in := func(t time.Time) bool { return began && t.After(from) && !t.After(until) }
	if wrong := l.scaled(in, until); began && len(wrong) > 0 {
		return l.broken(l.hpaRef(), wrong...)
	}
	if !began || !ended || to.Sub(from) < l.setup.Window || l.setup.Window <= 0 {
		return l.unknown(l.hpaRef(), finding("control window", fmt.Sprintf("the control window of %s was not seen to its end", seconds(l.setup.Window)), "run again"))
	}
	needs := []string{snapshot.ProblemMetricsAPI, snapshot.ProblemHPA, snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}
	if unseen := l.unseen(needs); len(unseen) > 0 {
		return l.wait(l.hpaRef(), needs, nil, check.Finding{})
	}
	readings := only(l.st.API, func(r snapshot.Reading) bool { return in(r.At) && r.Err == "" })
	if few := l.tooFew(readings, from, to); few.Message != "" {
		return l.unknown(l.hpaRef(), few)
	}
	highest := slices.MaxFunc(readings, func(a, b snapshot.Reading) int { return cmp.Compare(a.Value, b.Value) })
	return l.pass(to, l.hpaRef(), "%s of at most %s (target %s): nothing scaled, no node came in %s%s%s", count(len(readings), "reading"), l.value(highest.Value), l.value(l.setup.Scale.Target), seconds(to.Sub(from)), l.inPlace(in), l.other())
}

// tooFew says that a window proves nothing: too little was read in it, or the
// HPA had not settled on the least before it.
func (l look) tooFew(readings []snapshot.Reading, from, to time.Time) check.Finding {
	if gap := longestGap(readings, from, to); len(readings) < leastReadings || gap > l.setup.Window/2 {
		return finding("control window", fmt.Sprintf("only %s of the metric in a window of %s, none for %s of it: too few to say that it was flat", count(len(readings), "reading"), seconds(to.Sub(from)), seconds(gap)),
			"see why the metrics API answers seldom; widen site autoscale.window")
	}
	if d := l.desiredAt(to); l.st.HPA == nil || d.Desired != l.least() {
		return finding(orElse(suspect(l.hpaRef()), "HPA"), fmt.Sprintf("the HPA desired %d replicas in the window, not %d: it is not at work, and its silence proves nothing", d.Desired, l.least()), "see the HPA's conditions, and that kube-controller-manager's HPA controller runs")
	}
	return check.Finding{}
}

// desiredAt is the HPA's word as it stood at a time.
func (l look) desiredAt(t time.Time) snapshot.Desired {
	return lastOf(only(l.st.Desired, func(d snapshot.Desired) bool { return !d.At.After(t) }), func(d snapshot.Desired) time.Time { return d.At })
}

// leastReadings of a window for it to say anything.
const leastReadings = 3

func longestGap(readings []snapshot.Reading, from, to time.Time) time.Duration {
	longest, last := time.Duration(0), from
	for _, r := range readings {
		longest, last = max(longest, r.At.Sub(last)), r.At
	}
	return max(longest, to.Sub(last))
}

const noLoad = "find out what scaled it without load: the value's series, the HPA's target, another controller"

// scaled are the things that happened in a window in which nothing may.
func (l look) scaled(in func(time.Time) bool, until time.Time) []check.Finding {
	out := l.wanted(in, until)
	for _, p := range only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return in(p.First) }) {
		if n := len(l.workersAt(p.First)); n > l.least() {
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s was created without load: there were %s then, and the least is %d", suspect(p.Ref), count(n, "replica"), l.least()), noLoad))
		}
	}
	for _, c := range only(l.st.Claims, func(c snapshot.Claim) bool { return c.Ours && in(c.First) && !l.forOthers(c) }) {
		out = append(out, finding("NodeClaim "+c.Name, "NodeClaim "+c.Name+" of "+c.Pool+" was created without load", noLoad))
	}
	for _, n := range only(l.st.Nodes, func(n snapshot.Node) bool { return n.Ours && in(n.First) && !foreign(n) }) {
		out = append(out, finding(suspect(n.Ref), suspect(n.Ref)+" of "+n.Pool+" came without load", noLoad))
	}
	return out
}

// workersAt are the replicas that there were at a time, without those that were being
// deleted or were over: one that comes in the place of another is not more.
func (l look) workersAt(t time.Time) []snapshot.Pod {
	return only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool {
		ended := func(at time.Time) bool { return !at.IsZero() && !at.After(t) }
		return !p.First.After(t) && !ended(p.Deleting) && !ended(p.Deleted) && p.Phase != "Failed" && p.Phase != "Succeeded"
	})
}

// inPlace says how many replicas came in the place of others in a window.
func (l look) inPlace(in func(time.Time) bool) string {
	n := len(only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return in(p.First) }))
	if n == 0 {
		return ""
	}
	return " (" + count(n, "replica") + " came in the place of others that were deleted)"
}

// wanted says that the metric or the HPA asked for more in the window.
func (l look) wanted(in func(time.Time) bool, until time.Time) []check.Finding {
	var out []check.Finding
	high := only(l.st.API, func(r snapshot.Reading) bool { return in(r.At) && r.Err == "" && r.Value > l.rest() })
	if len(high) > 0 {
		out = append(out, finding(l.metricRef().String(), fmt.Sprintf("the metric was %s without load, above the target of %s", l.value(high[0].Value), l.value(l.rest())),
			"raise site autoscale.target above what idle GPUs draw, or see who uses the GPUs of the value: "+l.made()))
	}
	more := only(append(slices.Clone(l.st.Desired), l.desiredAt(until)), func(d snapshot.Desired) bool {
		return d.Desired > l.least() && (in(d.At) || d == l.desiredAt(until))
	})
	if len(more) > 0 {
		out = append(out, finding(suspect(l.hpaRef()), fmt.Sprintf("%s desired %d replicas without load (value %s)", suspect(l.hpaRef()), more[0].Desired, l.desiredValue(more[0])), noLoad))
	}
	return out
}

// forOthers says that a claim of the run's pools was made for somebody else:
// it was nominated for no pod of the run, and pods of others run on its node.
func (l look) forOthers(c snapshot.Claim) bool {
	for _, p := range l.st.Pods {
		if slices.Contains(l.nominations(p), c.Name) {
			return false
		}
	}
	n, ok := l.nodeOf(c)
	return ok && foreign(n)
}

// foreign says that only pods of others run on a node.
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

func (l look) desiredValue(d snapshot.Desired) string {
	if d.Value == nil {
		return "none"
	}
	return l.value(*d.Value)
}

// made says what the value is made of.
func (l look) made() string {
	var out []string
	for _, s := range l.st.Made {
		out = append(out, fmt.Sprintf("%s/gpu%s %s (%s)", s.Node, s.GPU, l.value(s.Value), whose(s)))
	}
	return some(out)
}

// served: the metrics API has the value, it is Prometheus' own, and it is made
// of the holder's GPUs and no others.
func served(l look) Result {
	needs := []string{snapshot.ProblemMetricsAPI, snapshot.ProblemPrometheus, snapshot.ProblemPods}
	api := l.good(l.st.API, snapshot.MarkPlaced)
	wrong := append(l.valueFindings(snapshot.MarkPlaced), l.madeFindings()...)
	holders := alive(l.role(snapshot.RoleHolder))
	gpus := 0
	for _, p := range holders {
		gpus += p.GPUs
	}
	if len(wrong) == 0 && (gpus == 0 || len(l.st.Made) != gpus) {
		wrong = append(wrong, finding("series "+l.setup.Metric.Series, fmt.Sprintf("the value is made of %d series, and the holder has %s: %s", len(l.st.Made), count(gpus, "GPU"), l.made()), "see that dcgm-exporter labels the GPU that the holder uses"))
	}
	if failure := lastError(l.st.API); len(wrong) == 0 && (failure != "" || len(api) == 0) {
		wrong = append(wrong, l.notServed()...)
	}
	if len(wrong) > 0 {
		return l.wait(l.metricRef(), needs, wrong, check.Finding{})
	}
	return l.pass(firstGood(api).At, l.metricRef(), "%s is %s, as in Prometheus, made of %s", l.setup.Metric.Name, l.value(api[len(api)-1].Value), l.made())
}

// firstGood is the first reading of the trailing ones without an error.
func firstGood(good []snapshot.Reading) snapshot.Reading {
	if len(good) == 0 {
		return snapshot.Reading{}
	}
	return good[0]
}

// limitZero: with a limit of 0 the pod stays Pending, Karpenter says that it is
// because of the limit, and there is no claim.
func limitZero(l look) Result {
	needs := []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemEvents}
	zero, name := l.role(snapshot.RoleZero), l.setup.Pool.Zero
	if i := slices.IndexFunc(l.st.Claims, func(c snapshot.Claim) bool { return c.Pool == name }); i >= 0 {
		c := l.st.Claims[i]
		return l.broken(c.Ref, finding("NodeClaim "+c.Name, fmt.Sprintf("NodeClaim %s was made for NodePool %s, whose limit is nvidia.com/gpu: 0", c.Name, name), "see spec.limits of the NodePool as stored, and Karpenter's log: the limit does not hold"))
	}
	if i := slices.IndexFunc(zero, func(p snapshot.Pod) bool { return p.Node != "" }); i >= 0 {
		return l.broken(zero[i].Ref, l.elsewhere(zero[i]))
	}
	if len(zero) == 0 {
		return l.wait(snapshot.Ref{}, needs, l.refused(), finding("namespace "+l.setup.Namespace, "the pod for NodePool "+name+" does not exist", "see the events of the namespace: quota, admission"))
	}
	pod := zero[0]
	if len(l.unseen(needs)) > 0 {
		return l.wait(pod.Ref, needs, nil, check.Finding{})
	}
	said := l.refusals(pod)
	limit := only(said, func(e snapshot.Event) bool { return isLimit(e.Message) })
	switch {
	case len(said) == 0:
		return l.unknown(pod.Ref, finding(l.autoscaler(), l.autoscaler()+" has not looked at "+suspect(pod.Ref)+": that it is Pending proves nothing", "see that Karpenter runs and its log"))
	case len(limit) == 0:
		return l.unknown(pod.Ref, finding(suspect(pod.Ref), suspect(pod.Ref)+" is Pending for another reason than the limit: "+said[len(said)-1].Message, "correct what Karpenter names, then run again"))
	case l.st.Marks[snapshot.MarkWindowTo].IsZero():
		return l.unknown(pod.Ref, finding("control window", "the control window is not over", "run again"))
	default:
		return l.pass(latest(limit, func(e snapshot.Event) time.Time { return e.First }), pod.Ref, "%s stayed Pending: Karpenter refused it for the limit of NodePool %s, and made no claim", suspect(pod.Ref), name)
	}
}

// refusals are what the autoscaler says against a pod.
func (l look) refusals(p snapshot.Pod) []snapshot.Event {
	return only(l.about(p.UID, "FailedScheduling", "NotTriggerScaleUp"), func(e snapshot.Event) bool { return l.fromAutoscaler(e) })
}

// fromAutoscaler tells the autoscaler's FailedScheduling from the scheduler's.
func (l look) fromAutoscaler(e snapshot.Event) bool {
	return e.Reason == "NotTriggerScaleUp" || strings.Contains(e.From, karpenter) || strings.HasPrefix(e.Message, "Failed to schedule pod, ")
}

// isLimit: the two messages with which Karpenter refuses for a NodePool's limit.
func isLimit(message string) bool {
	return strings.Contains(message, "exceed limits for nodepool") || strings.Contains(message, "limits have been exhausted for nodepool")
}
