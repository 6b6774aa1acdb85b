package autoscaling

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check: autoscaler and adapter have all their pods, their APIs
// are served, and the metric has a value that is newer than the first one read.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := judge{}
	for _, p := range []struct{ name, what, key string }{
		{c.conf.Controller, "the autoscaler", "autoscale.controller"}, {c.conf.Adapter, "the metrics adapter", "autoscale.adapter"},
	} {
		j.program(obs, p.name, p.what, p.key)
	}
	if group := nodeGroup(c.conf.Autoscaler); group != "" {
		j.api(obs, apiNodes, "install Karpenter's CRDs")
	}
	j.api(obs, apiMetrics, "install prometheus-adapter with the rules of firstlight autoscale rules, and its APIService")
	value := j.samples(obs)
	switch {
	case len(j.findings) > 0:
		var lines []string
		for _, f := range j.findings {
			lines = append(lines, f.Message)
		}
		return check.Fail(strings.Join(lines, "; "), j.findings...)
	case len(j.missing) > 0:
		return check.NotObserved(strings.Join(j.missing, "; "))
	}
	return check.Pass(fmt.Sprintf("%s and %s run; %s is served, and newer samples arrive (%s)", c.conf.Controller, c.conf.Adapter, adapterrules.External, value))
}

type judge struct {
	findings []check.Finding
	missing  []string
}

func (j *judge) find(o check.Observation, suspect, remedy, format string, args ...any) {
	j.findings = append(j.findings, check.Finding{Suspect: suspect, Message: fmt.Sprintf(format, args...), Remedy: remedy, Observations: []string{o.ID}})
}

// one is what a single observation of a kind and a target says.
func one[T any](j *judge, obs []check.Observation, kind, target string) (v T, o check.Observation, ok bool) {
	found := slices.DeleteFunc(check.OfKind(obs, kind), func(o check.Observation) bool { return o.Target != target })
	if len(found) != 1 {
		j.missing = append(j.missing, fmt.Sprintf("%s %s was observed %d times, not once", kind, target, len(found)))
		return v, o, false
	}
	o = found[0]
	if o.Err != "" {
		j.missing = append(j.missing, fmt.Sprintf("%s %s could not be observed: %s", kind, target, o.Err))
		return v, o, false
	}
	v, err := check.Decode[T](o)
	if err != nil {
		j.missing = append(j.missing, fmt.Sprintf("%s %s: %v", kind, target, err))
	}
	return v, o, err == nil
}

func (j *judge) program(obs []check.Observation, name, what, key string) {
	p, o, ok := one[Program](j, obs, kindProgram, name)
	switch {
	case !ok, p.Managed:
	case p.Absent:
		j.find(o, "Deployment "+name, "install it, or say where it is: site "+key, "%s, %s, is not there", name, what)
	case p.Desired < 1:
		j.find(o, "Deployment "+name, "scale it up", "%s, %s, is scaled to %d", name, what, p.Desired)
	case p.Ready < p.Desired || !p.Current:
		j.find(o, "Deployment "+name, "see why its pods are not ready: their events and log", "%s, %s, has %d of %d pods ready", name, what, p.Ready, p.Desired)
	}
}

func (j *judge) api(obs []check.Observation, target, remedy string) {
	if a, o, ok := one[API](j, obs, kindAPI, target); ok && !a.Served {
		j.find(o, "API "+a.Group, remedy, "the API %s is not served", a.Group)
	}
}

func (j *judge) samples(obs []check.Observation) string {
	s, o, ok := one[Samples](j, obs, kindSample, adapterrules.External)
	if !ok {
		return ""
	}
	const remedy = "firstlight autoscale follows the metric from the exporter to the metrics API and names the hop that is broken"
	switch {
	case s.First.At.IsZero():
		j.find(o, "metric "+s.Metric, remedy, "%s has no value after %d reads: %s", s.Metric, s.Reads, s.Err)
	case !s.Last.At.After(s.First.At):
		j.find(o, "metric "+s.Metric, remedy, "%s stands still: its sample of %s did not change in %d reads", s.Metric, s.First.At.UTC().Format("15:04:05.000"), s.Reads)
	default:
		if q, err := resource.ParseQuantity(s.Last.Value); err != nil || q.Sign() <= 0 {
			j.find(o, "metric "+s.Metric, remedy, "%s is %q: GPUs that are on draw power", s.Metric, s.Last.Value)
		}
	}
	return s.Last.Value
}
