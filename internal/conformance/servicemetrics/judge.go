package servicemetrics

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says, then run the check again"
	serverRemedy     = "see the events and log of the server's pod; its image, model and timeout are site workloads.inference"
	adapterRemedy    = "see that a metrics adapter serves custom.metrics.k8s.io with a rule for " + series + ": firstlight autoscale rules prints one"
	rerun            = "run the check again"
	starvedRemedy    = "see the load of this machine and of Prometheus, then run the check again"
)

// judge is a Builder with the observations.
type judge struct {
	*Check
	check.Builder
	obs []check.Observation
}

// last decodes the last observation of a kind and target ("" is any).
func last[T any](j *judge, kind, target, subject, remedy string) (T, string, bool) {
	v, o, ok := check.RequireLast[T](&j.Builder, j.obs, kind, target, subject, remedy)
	return v, o.ID, ok
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := &judge{Check: c, obs: obs}
	return j.Judgement(j.steps())
}

func duration(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// steps judges the steps in their order up to the first that did not pass, and returns the
// reason of a pass.
func (j *judge) steps() string {
	m, id, ok := last[mark](j, kindMark, "", "discovery", "install Prometheus with a job for annotated pods, or its operator with a selector of PodMonitors; "+prometheusRemedy)
	if !ok {
		return ""
	}
	if m.Key == "" || m.By == "" {
		j.Unobserved(id, "discovery", rerun, "the annotation or label by which Prometheus discovers pods is unknown")
		return ""
	}
	s, id, ok := last[server](j, kindServer, "", "the inference server", serverRemedy)
	if !ok {
		return ""
	}
	if !s.Exposed || s.Pod.UID == "" {
		j.Fail(id, "pod "+s.Pod.Namespace+"/"+s.Pod.Name, "use an image of vLLM that exposes its metrics at /metrics of port 8000", "the server does not expose %s itself", series)
		return ""
	}
	if !j.withoutMark(m) {
		return ""
	}
	discovery, ok := j.withMark(m, s.Pod)
	if !ok || !j.customMetric(s.Pod) || !j.markRemoved(m, discovery) {
		return ""
	}
	end, id, ok := last[pod](j, kindEnd, "", "the pod at the end", rerun)
	if !ok {
		return ""
	}
	if end.UID != s.Pod.UID {
		j.Unobserved(id, "pod "+end.Name, "find what replaced it, then run the check again", "it is not the pod that was watched")
		return ""
	}
	return fmt.Sprintf("%s of pod %s arrived %s after %s %s was set, was served for the pod and followed %d requests; without it, Prometheus had no series", series, s.Pod.Name, duration(discovery), m.By, m.Key, concurrency)
}

// withoutMark requires that Prometheus had no series of the pod before it was marked.
func (j *judge) withoutMark(m mark) bool {
	w, id, ok := last[watch](j, kindWatch, unmarked, "Prometheus", prometheusRemedy)
	switch {
	case !ok:
	case !w.First.IsZero() || len(w.Series) > 0:
		job := "unknown"
		if len(w.Series) > 0 {
			job = w.Series[0].Job
		}
		j.Fail(id, "Prometheus", "find the job that scrapes every pod, and make it select by the mark", "it scraped %s of the pod (job %s), which has no %s %s: it does not select by it", series, job, m.By, m.Key)
	case w.Queries < minQueries || w.To.Sub(w.From) < j.window-j.interval:
		j.Unobserved(id, "Prometheus", rerun, "%d queries in %s without the mark are too few to show that it has no series", w.Queries, duration(w.To.Sub(w.From)))
	default:
		return true
	}
	return false
}

// withMark requires exactly one series of the pod, with its identity, from a sample after
// the mark.
func (j *judge) withMark(m mark, p pod) (discovery time.Duration, ok bool) {
	w, id, ok := last[watch](j, kindWatch, marked, "Prometheus", prometheusRemedy)
	if !ok {
		return 0, false
	}
	discovery = w.To.Sub(w.From)
	switch {
	case len(w.Series) == 0 && j.starved(w):
		j.Unobserved(id, "Prometheus", starvedRemedy, "%d queries in %s with the mark are too few to show that it has no series", w.Queries, duration(discovery))
	case len(w.Series) == 0:
		j.Fail(id, "Prometheus", "see its service discovery (Status, Service Discovery): selectors, network policies, its permission to list pods",
			"it has no series of the pod after %s, although the pod has %s %s=%s (%s): %s", duration(discovery), m.By, m.Key, m.Value, m.Where, w.Problem)
	case len(w.Series) > 1:
		j.Fail(id, "Prometheus", "make one job scrape the pod, with one target for all its ports", "it has %d series %s of one pod: sums count it several times", len(w.Series), series)
	case w.Series[0].Namespace != p.Namespace || w.Series[0].Pod != p.Name:
		j.Fail(id, "Prometheus", "relabel __meta_kubernetes_namespace and __meta_kubernetes_pod_name to namespace and pod",
			"the series of pod %s/%s has namespace %q and pod %q", p.Namespace, p.Name, w.Series[0].Namespace, w.Series[0].Pod)
	case !w.Series[0].At.After(w.From) && w.Queries > 1:
		j.Fail(id, "Prometheus", "find the source of these samples", "its sample is of %s, before the pod was marked at %s", w.Series[0].At.Format(time.RFC3339), w.From.Format(time.RFC3339))
	default:
		j.Figure(check.Figure{Name: "discovered after", Value: discovery.Seconds(), Unit: "s", Limit: j.timeout.Seconds(), Relation: "<=", Source: "profile telemetry.riseWithin, telemetry.settle x site telemetry.scrapeInterval"})
		return discovery, true
	}
	return discovery, false
}

// starved reports a watch with less than one query in two scrape intervals: this machine, or
// Prometheus, is too slow to tell a late series from one that does not come.
func (j *judge) starved(w watch) bool {
	return w.Queries < minQueries || w.To.Sub(w.From) > time.Duration(2*w.Queries)*j.interval
}

// customMetric requires that the custom metrics API serves the value of the pod, and that it
// follows the requests.
func (j *judge) customMetric(p pod) bool {
	const adapter = "custom.metrics.k8s.io"
	before, id, ok := last[served](j, kindServed, idle, adapter, adapterRemedy)
	if !ok {
		return false
	}
	if before.Absent != "" {
		j.Fail(id, adapter, adapterRemedy, "it serves no value of pod %s/%s: %s", p.Namespace, p.Name, before.Absent)
		return false
	}
	if before.Namespace != p.Namespace || before.Pod != p.Name {
		j.Fail(id, adapter, "see the resources of the adapter's rule", "it returned the value of %s/%s for pod %s/%s", before.Namespace, before.Pod, p.Namespace, p.Name)
		return false
	}
	under, id, ok := last[underLoad](j, kindRequests, "", "the value under requests", adapterRemedy)
	if !ok {
		return false
	}
	sent := float64(under.Sent)
	switch {
	case under.Absent != "":
		j.Fail(id, adapter, adapterRemedy, "it served %s of the pod, but not while requests were processed: %s", before.Metric, under.Absent)
	case under.Done == 0 && under.Prometheus == 0:
		j.Unobserved(id, "the inference server", serverRemedy, "no request was answered (%d failed: %s), so no value could follow", under.Failed, under.Failure)
	case under.Reads < minQueries && (!(under.Prometheus > 0) || !(under.API > before.Value)):
		j.Unobserved(id, adapter, starvedRemedy, "%d reads of the value while requests were processed are too few to show that it does not follow", under.Reads)
	case !(under.Prometheus > 0):
		j.Fail(id, "Prometheus", "see whether Prometheus still scrapes the pod, and the server's own /metrics", "%s stayed 0 while %d requests were processed", series, under.Sent)
	case !(under.API > before.Value):
		j.Fail(id, adapter, adapterRemedy, "%s is %g with %d requests and was %g without, while Prometheus had %g: it does not follow", before.Metric, under.API, under.Sent, before.Value, under.Prometheus)
	case under.API > sent || under.Prometheus > sent:
		j.Fail(id, adapter, "see what the adapter's rule sums", "%g requests at the API and %g in Prometheus, but %d were sent: the value is not of this pod alone", under.API, under.Prometheus, under.Sent)
	default:
		later, id, ok := last[served](j, kindServed, after, adapter+" after the requests", adapterRemedy)
		if ok && (later.Value > before.Value || later.Absent != "") {
			j.Fail(id, adapter, "see the range of the adapter's rule", "%s is %g after all requests ended; it was %g before %s", before.Metric, later.Value, before.Value, later.Absent)
			return false
		}
		j.Figure(check.Figure{Name: "value with requests", Value: under.API, Unit: "requests", Limit: before.Value, Relation: ">=", Source: "the value without requests"})
		return ok
	}
	return false
}

// markRemoved requires that the series ended without the mark, and stayed absent.
func (j *judge) markRemoved(m mark, discovery time.Duration) bool {
	w, id, ok := last[watch](j, kindWatch, again, "Prometheus without the mark", prometheusRemedy)
	if !ok {
		return false
	}
	absence, limit := w.To.Sub(w.AbsentSince), absenceFactor*discovery
	switch {
	case (len(w.Series) > 0 || w.AbsentSince.IsZero()) && j.starved(w):
		j.Unobserved(id, "Prometheus", starvedRemedy, "%d queries in %s without the mark are too few to show that it still scrapes the pod", w.Queries, duration(w.To.Sub(w.From)))
		return false
	case len(w.Series) > 0 || w.AbsentSince.IsZero():
		j.Fail(id, "Prometheus", "find the other job that scrapes the pod", "it still scrapes the pod %s after %s %s was removed", duration(w.To.Sub(w.From)), m.By, m.Key)
		return false
	case absence < limit || w.Queries < minQueries:
		j.Unobserved(id, "Prometheus", rerun, "the series was absent for only %s; its discovery took %s", duration(absence), duration(discovery))
		return false
	}
	j.Figure(check.Figure{Name: "absent without the mark", Value: absence.Seconds(), Unit: "s", Limit: limit.Seconds(), Relation: ">=", Source: fmt.Sprintf("%d times the time of discovery", absenceFactor)})
	return true
}
