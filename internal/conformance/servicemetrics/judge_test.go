package servicemetrics

import (
	"regexp"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func theCheck(t *testing.T) *Check {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	return New(&site.Site{Telemetry: site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second)}}, p, conformance.Deps{RunID: "r1"})
}

func at(s float64) time.Time {
	return time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

// facts are what the observations say; nil parts were not observed.
type facts struct {
	mark                    *mark
	server                  *server
	unmarked, marked, again *watch
	idle, after             *served
	underLoad               *underLoad
	end                     *pod
	errs                    map[string]string // by kind/target
}

func healthy() *facts {
	p := pod{Namespace: "firstlight-r1", Name: "service-metrics-0-x", UID: "u1", IP: "10.244.0.7", Node: "gpu-01", Phase: "Running"}
	return &facts{
		mark:     &mark{By: byAnnotation, Where: "job pods", Key: scrapeAnnotation, Value: "true"},
		server:   &server{Pod: p, Exposed: true},
		unmarked: &watch{From: at(0), To: at(150), Queries: 20},
		marked: &watch{From: at(160), To: at(180), Queries: 3, First: at(180), Series: []sample{
			{Namespace: p.Namespace, Pod: p.Name, Instance: "10.244.0.7:8000", Job: "pods", At: at(175)},
		}},
		idle:      &served{Metric: metricName, Namespace: p.Namespace, Pod: p.Name, At: at(190)},
		underLoad: &underLoad{Sent: 4, Done: 9, Reads: 5, Prometheus: 4, API: 3.5},
		after:     &served{Metric: metricName, Namespace: p.Namespace, Pod: p.Name, At: at(250)},
		again:     &watch{From: at(260), To: at(345), Queries: 12, First: at(260), AbsentSince: at(280)},
		end:       &p, errs: map[string]string{},
	}
}

func (f *facts) observations(t *testing.T) []check.Observation {
	t.Helper()
	out := checktest.Observed{T: t, Errs: f.errs}
	out.Add(kindMark, "p", f.mark != nil, f.mark)
	out.Add(kindServer, "job", f.server != nil, f.server)
	out.Add(kindWatch, unmarked, f.unmarked != nil, f.unmarked)
	out.Add(kindWatch, marked, f.marked != nil, f.marked)
	out.Add(kindServed, idle, f.idle != nil, f.idle)
	out.Add(kindRequests, "c", f.underLoad != nil, f.underLoad)
	out.Add(kindServed, after, f.after != nil, f.after)
	out.Add(kindWatch, again, f.again != nil, f.again)
	out.Add(kindEnd, "pod", f.end != nil, f.end)
	return out.List
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	j := theCheck(t).Judge(healthy().observations(t))
	if j.Verdict != check.Passed || !regexp.MustCompile(`arrived 20.0 s after annotation prometheus.io/scrape.*4 requests`).MatchString(j.Reason) {
		t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
	}
}

func TestNegatives(t *testing.T) {
	t.Parallel()
	const api = "custom.metrics.k8s.io"
	for name, tt := range map[string]struct {
		verdict       check.Verdict
		suspect, says string
		change        func(f *facts)
	}{
		"read without the mark": {check.Failed, "Prometheus", "which has no annotation", func(f *facts) {
			f.unmarked.First, f.unmarked.Series = at(30), f.marked.Series
		}},
		"never discovered": {check.Failed, "Prometheus", "has no series of the pod.*it has no target of the pod", func(f *facts) {
			f.marked.Series, f.marked.Problem = nil, "it has no target of the pod"
		}},
		"without the pod's name":     {check.Failed, "Prometheus", "the series of pod", func(f *facts) { f.marked.Series[0].Pod = "" }},
		"with another pod's name":    {check.Failed, "Prometheus", "the series of pod", func(f *facts) { f.marked.Series[0].Pod = "prometheus-0" }},
		"scraped twice":              {check.Failed, "Prometheus", "2 series", func(f *facts) { f.marked.Series = append(f.marked.Series, f.marked.Series[0]) }},
		"stale":                      {check.Failed, "Prometheus", "before the pod was marked", func(f *facts) { f.marked.Series[0].At = at(150) }},
		"constant in Prometheus":     {check.Failed, "Prometheus", "stayed 0", func(f *facts) { f.underLoad.Prometheus, f.underLoad.API = 0, 0 }},
		"constant at the API":        {check.Failed, api, "it does not follow", func(f *facts) { f.underLoad.API = 0 }},
		"constant and high":          {check.Failed, api, "it does not follow", func(f *facts) { f.idle.Value = 3.5 }},
		"of another pod":             {check.Failed, api, "the value of firstlight-r1/other", func(f *facts) { f.idle.Pod = "other" }},
		"of all pods together":       {check.Failed, api, "not of this pod alone", func(f *facts) { f.underLoad.API = 12 }},
		"it stays high":              {check.Failed, api, "after all requests ended", func(f *facts) { f.after.Value = 4 }},
		"still read without it":      {check.Failed, "Prometheus", "still scrapes the pod", func(f *facts) { f.again.Series, f.again.AbsentSince = f.marked.Series, time.Time{} }},
		"nothing exposed":            {check.Failed, "pod firstlight-r1/service-metrics-0-x", "does not expose", func(f *facts) { f.server.Exposed = false }},
		"cannot discover":            {check.Unobserved, "discovery", "cannot discover", func(f *facts) { f.errs[kindMark+"/p"] = errNoDiscovery.Error() }},
		"the server did not come":    {check.Unobserved, "the inference server", "no such image", func(f *facts) { f.errs[kindServer+"/job"] = "no such image" }},
		"too short a window":         {check.Unobserved, "Prometheus", "too few", func(f *facts) { f.unmarked.To = at(60) }},
		"too few looks":              {check.Unobserved, "Prometheus", "too few", func(f *facts) { f.unmarked.Queries = 2 }},
		"away too short":             {check.Unobserved, "Prometheus", "absent for only 59.0 s; its discovery took 20.0 s", func(f *facts) { f.again.To = at(339) }},
		"not served":                 {check.Failed, api, "serves no value of pod.*lists 9 metrics", func(f *facts) { f.idle = &served{Absent: "lists 9 metrics of pods"} }},
		"served no more":             {check.Failed, api, "but not while requests.*503", func(f *facts) { f.underLoad.Absent = "503" }},
		"served no more at last":     {check.Failed, api, "all requests ended.*404", func(f *facts) { f.after = &served{Absent: "404"} }},
		"the API cannot be asked":    {check.Unobserved, api, "503", func(f *facts) { f.errs[kindServed+"/"+idle] = "503" }},
		"the API went away":          {check.Unobserved, "the value under requests", "503", func(f *facts) { f.errs[kindRequests+"/c"] = "503" }},
		"no request was answered":    {check.Unobserved, "the inference server", "no request was answered", func(f *facts) { *f.underLoad = underLoad{Sent: 4, Failed: 7, Failure: "refused"} }},
		"Prometheus went away":       {check.Unobserved, "Prometheus", "refused", func(f *facts) { f.errs[kindWatch+"/"+marked] = "refused" }},
		"another pod at the end":     {check.Unobserved, "pod service-metrics-0-x", "not the pod that was watched", func(f *facts) { p := *f.end; p.UID = "u2"; f.end = &p }},
		"interrupted":                {check.Unobserved, "Prometheus without the mark", "was not observed", func(f *facts) { f.again, f.end = nil, nil }},
		"interrupted under load":     {check.Unobserved, api + " after the requests", "was not observed", func(f *facts) { f.after, f.again, f.end = nil, nil, nil }},
		"an empty mark":              {check.Unobserved, "discovery", "is unknown", func(f *facts) { f.mark.Key = "" }},
		"nothing":                    {check.Unobserved, "discovery", "was not observed", func(f *facts) { *f = facts{} }},
		"the pod's end was not seen": {check.Unobserved, "the pod at the end", "was not observed", func(f *facts) { f.end = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := healthy()
			tt.change(f)
			j := theCheck(t).Judge(f.observations(t))
			if j.Verdict != tt.verdict || len(j.Findings) == 0 {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			for _, found := range j.Findings {
				if found.Suspect == tt.suspect && regexp.MustCompile(tt.says).MatchString(found.Message) {
					return
				}
			}
			t.Errorf("%s: %+v", j.Reason, j.Findings)
		})
	}
}
