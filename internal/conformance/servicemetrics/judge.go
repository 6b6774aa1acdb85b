package servicemetrics

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// conclusions gathers what the parts of the judgement say.
type conclusions struct {
	obs           []check.Observation
	wrong, unseen []check.Finding
	figures       []check.Figure
}

func (c *conclusions) fail(o check.Observation, suspect, message, remedy string) {
	c.wrong = append(c.wrong, finding(o, suspect, message, remedy))
}

func (c *conclusions) missing(o check.Observation, suspect, message, remedy string) {
	c.unseen = append(c.unseen, finding(o, suspect, message, remedy))
}

func finding(o check.Observation, suspect, message, remedy string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if o.ID != "" {
		f.Observations = []string{o.ID}
	}
	return f
}

// last decodes the last observation of a kind and target ("" for any).
func last[T any](c *conclusions, kind, target, what, remedy string) (check.Observation, T, bool) {
	var none T
	var found *check.Observation
	for i := range c.obs {
		if c.obs[i].Kind == kind && (target == "" || c.obs[i].Target == target) {
			found = &c.obs[i]
		}
	}
	if found == nil {
		c.missing(check.Observation{}, what, what+" was not looked at", "run the check again")
		return check.Observation{}, none, false
	}
	v, err := check.Decode[T](*found)
	if err != nil {
		c.missing(*found, what, what+" could not be seen: "+err.Error(), remedy)
		return *found, none, false
	}
	return *found, v, true
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	out := &conclusions{obs: obs}
	reason := c.judge(out)
	j := check.Judgement{Figures: out.figures, Findings: append(out.wrong, out.unseen...)}
	switch {
	case len(out.wrong) > 0:
		j.Verdict, j.Reason = check.Failed, summary(out.wrong)
	case len(out.unseen) > 0:
		j.Verdict, j.Reason = check.Unobserved, summary(out.unseen)
	case reason == "":
		return check.NotObserved("nothing was judged")
	default:
		j.Verdict, j.Reason = check.Passed, reason
	}
	return j
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	text := findings[0].Message
	if !strings.Contains(text, findings[0].Suspect) {
		text = findings[0].Suspect + ": " + text
	}
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

const (
	prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says, then run the check again"
	serverRemedy     = "see why the server does not come up: its pod's events and log; image, model and timeout are of site workloads.inference"
	adapterRemedy    = "see that a metrics adapter serves custom.metrics.k8s.io with a rule for " + series + ": firstlight autoscale rules prints one"
)

// judge goes through the steps in their order, until one is not as it has to be. It
// returns what was shown.
func (c *Check) judge(out *conclusions) string {
	o, m, ok := last[mark](out, kindMark, "", "discovery", "install Prometheus with a job for annotated pods, or its operator with a selector of PodMonitors; "+prometheusRemedy)
	if !ok {
		return ""
	}
	if m.Key == "" || m.By == "" {
		out.missing(o, "discovery", "it is not known by what Prometheus chooses pods", "run the check again")
		return ""
	}
	so, s, ok := last[server](out, kindServer, "", "the inference server", serverRemedy)
	if !ok {
		return ""
	}
	if !s.Exposed || s.Pod.UID == "" {
		out.fail(so, "pod "+s.Pod.Namespace+"/"+s.Pod.Name, "the server does not expose "+series+" itself, so nobody can read it", "use an image of vLLM that exposes its metrics at /metrics of port 8000")
		return ""
	}
	if !c.judgeUnmarked(out, m) {
		return ""
	}
	took, ok := c.judgeMarked(out, m, s.Pod)
	if !ok || !c.judgeServed(out, s.Pod) || !c.judgeAgain(out, m, took) {
		return ""
	}
	eo, end, ok := last[pod](out, kindEnd, "", "the pod at the end", "run the check again")
	if !ok {
		return ""
	}
	if end.UID != s.Pod.UID {
		out.missing(eo, "pod "+end.Name, "the pod at the end is another than the one that was watched", "find out who replaced it, then run the check again")
		return ""
	}
	return fmt.Sprintf("%s of pod %s arrived %s after its %s %s, was served of it and followed %d requests; without it, it was not read", series, s.Pod.Name, span(took), m.By, m.Key, requests)
}

func span(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// judgeUnmarked: nothing of the pod was read while it lacked the mark.
func (c *Check) judgeUnmarked(out *conclusions, m mark) bool {
	o, w, ok := last[watch](out, kindWatch, unmarked, "Prometheus", prometheusRemedy)
	if !ok {
		return false
	}
	switch {
	case !w.First.IsZero() || len(w.Series) > 0:
		out.fail(o, "Prometheus", fmt.Sprintf("it read %s of the pod (job %s) though the pod lacks %s %s: it does not choose by it", series, jobOf(w), m.By, m.Key),
			"see which job scrapes every pod, and by what it should choose")
		return false
	case w.Looks < leastLooks || w.To.Sub(w.From) < c.window-c.every:
		out.missing(o, "Prometheus", fmt.Sprintf("it was looked at %d times in %s without the mark: too little to say that nothing was read", w.Looks, span(w.To.Sub(w.From))), "run the check again")
		return false
	default:
		return true
	}
}

func jobOf(w watch) string {
	if len(w.Series) == 0 {
		return "unknown"
	}
	return w.Series[0].Job
}

// judgeMarked: with the mark the pod's series is there once, with its identity, from a
// sample of after the mark.
func (c *Check) judgeMarked(out *conclusions, m mark, p pod) (took time.Duration, ok bool) {
	o, w, ok := last[watch](out, kindWatch, marked, "Prometheus", prometheusRemedy)
	if !ok {
		return 0, false
	}
	took = w.To.Sub(w.From)
	switch {
	case len(w.Series) == 0:
		out.fail(o, "Prometheus", fmt.Sprintf("it read nothing of the pod in %s, though the pod has %s %s=%s (%s): %s", span(took), m.By, m.Key, m.Value, m.Where, w.Trouble),
			"see its service discovery (Status, Service Discovery): selectors, network policies, its permission to list pods")
	case len(w.Series) > 1:
		out.fail(o, "Prometheus", fmt.Sprintf("it has %d series %s of one pod: sums count it more than once", len(w.Series), series), "see that one job scrapes the pod, once for all its ports")
	case w.Series[0].Namespace != p.Namespace || w.Series[0].Pod != p.Name:
		out.fail(o, "Prometheus", fmt.Sprintf("the series of pod %s/%s says namespace %q and pod %q: nobody can tell whose it is", p.Namespace, p.Name, w.Series[0].Namespace, w.Series[0].Pod),
			"relabel __meta_kubernetes_namespace and __meta_kubernetes_pod_name to namespace and pod")
	case !w.Series[0].At.After(w.From) && w.Looks > 1:
		out.fail(o, "Prometheus", fmt.Sprintf("its sample is of %s, before the pod was marked at %s", w.Series[0].At.Format(time.RFC3339), w.From.Format(time.RFC3339)), "see whose samples these are")
	default:
		out.figures = append(out.figures, check.Figure{Name: "discovered after", Value: took.Seconds(), Unit: "s", Limit: c.within.Seconds(), Relation: "<=", Source: "profile telemetry.riseWithin, telemetry.settle x site telemetry.scrapeInterval"})
		return took, true
	}
	return took, false
}

// judgeServed: the custom metrics API serves the value of that very pod, and it
// follows the requests.
func (c *Check) judgeServed(out *conclusions, p pod) bool {
	adapter := "custom.metrics.k8s.io"
	o, before, ok := last[served](out, kindServed, idle, adapter, adapterRemedy)
	if !ok {
		return false
	}
	if before.Absent != "" {
		out.fail(o, adapter, fmt.Sprintf("it serves nothing of pod %s/%s: %s", p.Namespace, p.Name, before.Absent), adapterRemedy)
		return false
	}
	if before.Namespace != p.Namespace || before.Pod != p.Name {
		out.fail(o, adapter, fmt.Sprintf("asked for pod %s/%s it answers of %s/%s", p.Namespace, p.Name, before.Namespace, before.Pod), "see the resources of the adapter's rule")
		return false
	}
	ro, w, ok := last[worked](out, kindRequests, "", "the value under requests", adapterRemedy)
	if !ok {
		return false
	}
	switch {
	case w.Absent != "":
		out.fail(ro, adapter, fmt.Sprintf("it served %s of the pod, and no more when requests were worked at: %s", before.Metric, w.Absent), adapterRemedy)
	case w.Done == 0 && w.Prometheus == 0:
		out.missing(ro, "the inference server", fmt.Sprintf("none of the requests was answered (%d failed: %s), so no value could follow", w.Failed, w.Failure), serverRemedy)
	case !(w.Prometheus > 0):
		out.fail(ro, "Prometheus", fmt.Sprintf("%s stayed 0 while %d requests were worked at: it does not move", series, w.Sent), "see whether Prometheus still scrapes the pod, and the server's own /metrics")
	case !(w.API > before.Value):
		out.fail(ro, adapter, fmt.Sprintf("%s is %g with %d requests and was %g without, while Prometheus had %g: it does not follow", before.Metric, w.API, w.Sent, before.Value, w.Prometheus), adapterRemedy)
	case w.API > float64(w.Sent) || w.Prometheus > float64(w.Sent):
		out.fail(ro, adapter, fmt.Sprintf("%g requests at the API and %g in Prometheus, where %d were sent: it is not this pod's value alone", w.API, w.Prometheus, w.Sent), "see what the adapter's rule sums")
	default:
		ao, after, ok := last[served](out, kindServed, after, adapter+" after the requests", adapterRemedy)
		if ok && (after.Value > before.Value || after.Absent != "") {
			out.fail(ao, adapter, fmt.Sprintf("%s is %g though no request is left; it was %g %s", before.Metric, after.Value, before.Value, after.Absent), "see the range of the adapter's rule")
			return false
		}
		out.figures = append(out.figures, check.Figure{Name: "value with requests", Value: w.API, Unit: "requests", Limit: before.Value, Relation: ">=", Source: "the value without requests"})
		return ok
	}
	return false
}

// judgeAgain: without the mark the series ended, and stayed away for so many times as
// long as it took to come.
func (c *Check) judgeAgain(out *conclusions, m mark, took time.Duration) bool {
	o, w, ok := last[watch](out, kindWatch, again, "Prometheus without the mark", prometheusRemedy)
	if !ok {
		return false
	}
	away := w.To.Sub(w.Gone)
	switch {
	case len(w.Series) > 0 || w.Gone.IsZero():
		out.fail(o, "Prometheus", fmt.Sprintf("it still reads the pod %s after %s %s was taken away", span(w.To.Sub(w.From)), m.By, m.Key), "see by what it chooses: another job scrapes the pod, too")
		return false
	case away < awayFactor*took || w.Looks < leastLooks:
		out.missing(o, "Prometheus", fmt.Sprintf("the series was away for %s only; it took %s to come", span(away), span(took)), "run the check again")
		return false
	}
	out.figures = append(out.figures, check.Figure{Name: "away without the mark", Value: away.Seconds(), Unit: "s", Limit: (awayFactor * took).Seconds(), Relation: ">=", Source: fmt.Sprintf("%d times what discovery took", awayFactor)})
	return true
}
