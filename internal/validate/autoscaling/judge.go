package autoscaling

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/check"
)

// Judge implements check.Check: autoscaler and adapter have all their pods, their APIs
// are served, and the metric has a value that is newer than the first one read.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	j := judge{}
	// Observations of earlier versions have the autoscaler, and are judged as before.
	fixed := c.opts.FixedNodes && !slices.ContainsFunc(obs, func(o check.Observation) bool { return o.Kind == kindProgram && o.Target == c.conf.Controller })
	for _, p := range []struct{ name, role, key string }{
		{c.conf.Controller, "the autoscaler", "autoscale.controller"}, {c.conf.Adapter, "the metrics adapter", "autoscale.adapter"},
	} {
		if fixed && p.name == c.conf.Controller {
			continue
		}
		j.program(obs, p.name, p.role, p.key)
	}
	if group := nodeGroup(c.conf.Autoscaler); group != "" && !fixed {
		j.api(obs, apiNodes, "install Karpenter's CRDs")
	}
	j.api(obs, apiMetrics, "install prometheus-adapter with the rules of firstlight autoscale rules, and its APIService")
	value := j.samples(obs)
	if fixed {
		return j.Judgement(fmt.Sprintf("%s runs; %s is served, and newer samples arrive (%s)", c.conf.Adapter, adapterrules.External, value))
	}
	return j.Judgement(fmt.Sprintf("%s and %s run; %s is served, and newer samples arrive (%s)", c.conf.Controller, c.conf.Adapter, adapterrules.External, value))
}

const remedyUnobserved = "make the cluster's API reachable, then run the step again"

type judge struct{ check.Builder }

func (j *judge) program(obs []check.Observation, name, role, key string) {
	p, o, ok := check.Require[Program](&j.Builder, obs, kindProgram, name, kindProgram+" "+name, remedyUnobserved)
	switch {
	case !ok, p.Managed:
	case p.Absent:
		j.Fail(o.ID, "Deployment "+name, "install it, or set site "+key+" to its namespace/name", "%s, %s, not found", name, role)
	case p.Desired < 1:
		j.Fail(o.ID, "Deployment "+name, "scale it up", "%s, %s, is scaled to %d", name, role, p.Desired)
	case p.Ready < p.Desired || !p.Current:
		j.Fail(o.ID, "Deployment "+name, "see why its pods are not ready: their events and log", "%s, %s, has %d of %d pods ready", name, role, p.Ready, p.Desired)
	}
}

func (j *judge) api(obs []check.Observation, target, remedy string) {
	if a, o, ok := check.Require[API](&j.Builder, obs, kindAPI, target, kindAPI+" "+target, remedyUnobserved); ok && !a.Served {
		j.Fail(o.ID, "API "+a.Group, remedy, "the API %s is not served", a.Group)
	}
}

func (j *judge) samples(obs []check.Observation) string {
	s, o, ok := check.Require[Samples](&j.Builder, obs, kindSample, adapterrules.External, "metric "+adapterrules.External, remedyUnobserved)
	if !ok {
		return ""
	}
	const remedy = "firstlight autoscale follows the metric from the exporter to the metrics API and names the hop that is broken"
	switch {
	case s.First.At.IsZero():
		j.Fail(o.ID, "metric "+s.Metric, remedy, "%s has no value after %d reads: %s", s.Metric, s.Reads, s.Err)
	case !s.Last.At.After(s.First.At):
		j.Fail(o.ID, "metric "+s.Metric, remedy, "%s is stale: its sample of %s did not change in %d reads", s.Metric, s.First.At.UTC().Format("15:04:05.000"), s.Reads)
	default:
		if q, err := resource.ParseQuantity(s.Last.Value); err != nil || q.Sign() <= 0 {
			j.Fail(o.ID, "metric "+s.Metric, remedy, "%s is %q, want more than 0: a running GPU draws power", s.Metric, s.Last.Value)
		}
	}
	return s.Last.Value
}
