// Package judge decides each hop of the autoscaling chain: a pure function of the Setup
// and the State stored for the hop.
//
// Objects are identified by UID, never by count or name alone; objects without a UID are
// ignored. A condition that was observed not to hold is failed, with the likely reason; a
// condition that could not be read is unobserved; zero items never pass.
package judge

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// Result is the verdict of one hop.
type Result struct {
	check.Judgement
	// At is the time at which the hop's condition became true; zero when it did not.
	At time.Time
	// Object that the condition is about, with its UID.
	Object snapshot.Ref
	// Final reports that the verdict cannot become a pass by waiting.
	Final bool
}

// Hop judges a hop from the state stored for it. A hop that has not happened yet is
// failed with the likely reason, or unobserved when its inputs could not be read; the
// observer calls Hop again until the hop's deadline.
func Hop(name string, s snapshot.Setup, st snapshot.State) Result {
	if why, excused := NotApplicable(name, s); excused {
		return notApplicable(why)
	}
	r, ok := rules[name]
	if !ok {
		return Result{Judgement: check.NotObserved("hop " + name + " has no judge")}
	}
	return r.judge(lookup{setup: s, st: st, needs: r.neededBy(s)})
}

// NotApplicable returns why a hop does not apply to a chain with setup s: site and options
// decide it, never what is observed.
func NotApplicable(name string, s snapshot.Setup) (why string, excused bool) {
	switch {
	case s.Pool.Stay && slices.Contains(ofNodes(), name):
		return "replicas stay on existing nodes: no node has to be added", true
	case name == snapshot.HopPool && s.Pool.Managed && s.Pool.Autoscaler != karpenter:
		return s.Pool.Autoscaler + " is not visible in this cluster (site autoscale.controller: managed); node group " + s.Pool.Name + " is judged by its scaling alone", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "" && s.Pool.Autoscaler == karpenter:
		return "the run uses an existing NodePool (--pool) and creates none with limit 0", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "":
		return "no NodePool to limit to 0: nodes come from " + s.Pool.Autoscaler, true
	case name == snapshot.HopClaimsGone && s.Pool.Autoscaler != karpenter:
		return "nodes come from " + s.Pool.Autoscaler + ", which creates no NodeClaims", true
	case (name == snapshot.HopGangBound || name == snapshot.HopGangNone) && s.Gang == 0 && s.GangWhy != "":
		return s.GangWhy, true
	case name == snapshot.HopClean && s.Keep:
		return "--keep: the run's objects are kept", true
	default:
		return "", false
	}
}

// ofNodes lists the hops about added and removed nodes.
func ofNodes() []string {
	return []string{
		snapshot.HopPool, snapshot.HopLimitZero, snapshot.HopUnschedulable, snapshot.HopNodeClaim, snapshot.HopRegistered, snapshot.HopReady,
		snapshot.HopNodesGone, snapshot.HopClaimsGone, snapshot.HopGangBound, snapshot.HopGangNone,
	}
}

// rule is the judge of a hop, and the sources that it needs.
type rule struct {
	judge func(lookup) Result
	needs []string
}

// neededBy lists the sources that the hop needs for setup s: without Karpenter the cluster
// has no NodePools and no NodeClaims to read.
func (r rule) neededBy(s snapshot.Setup) []string {
	if s.Pool.Autoscaler == karpenter {
		return r.needs
	}
	return only(r.needs, func(n string) bool { return n != snapshot.ProblemPools && n != snapshot.ProblemClaims })
}

var rules = map[string]rule{
	snapshot.HopAdapter:       {adapter, []string{snapshot.ProblemAPIServices, snapshot.ProblemPrograms}},
	snapshot.HopPool:          {nodepool, []string{snapshot.ProblemPools, snapshot.ProblemPrograms}},
	snapshot.HopSeries:        {series, []string{snapshot.ProblemPrometheus}},
	snapshot.HopPlaced:        {placed, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopServed:        {served, []string{snapshot.ProblemMetricsAPI, snapshot.ProblemPrometheus, snapshot.ProblemPods}},
	snapshot.HopFlat:          {flat, []string{snapshot.ProblemMetricsAPI, snapshot.ProblemHPA, snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopLimitZero:     {limitZero, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemEvents}},
	snapshot.HopLoad:          {load, []string{snapshot.ProblemPods}},
	snapshot.HopExporter:      {exporter, []string{snapshot.ProblemExporter, snapshot.ProblemPods}},
	snapshot.HopPrometheus:    {prometheus, []string{snapshot.ProblemPrometheus}},
	snapshot.HopMetricsAPI:    {metricsAPI, []string{snapshot.ProblemMetricsAPI}},
	snapshot.HopHPA:           {hpa, []string{snapshot.ProblemHPA}},
	snapshot.HopPods:          {pods, []string{snapshot.ProblemPods, snapshot.ProblemHPA}},
	snapshot.HopUnschedulable: {unschedulable, []string{snapshot.ProblemPods, snapshot.ProblemEvents}},
	snapshot.HopNodeClaim:     {nodeclaim, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemEvents}},
	snapshot.HopRegistered:    {registered, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopReady:         {ready, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopBound:         {bound, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopMetricFalls:   {metricFalls, []string{snapshot.ProblemMetricsAPI, snapshot.ProblemPods}},
	snapshot.HopHPADown:       {hpaDown, []string{snapshot.ProblemHPA}},
	snapshot.HopPodsGone:      {podsGone, []string{snapshot.ProblemPods}},
	snapshot.HopNodesGone:     {nodesGone, []string{snapshot.ProblemPods, snapshot.ProblemClaims, snapshot.ProblemNodes}},
	snapshot.HopClaimsGone:    {claimsGone, []string{snapshot.ProblemPods, snapshot.ProblemClaims}},
	snapshot.HopBystanders:    {bystanders, []string{snapshot.ProblemPods, snapshot.ProblemNodes}},
	snapshot.HopGangBound:     {gangBound, []string{snapshot.ProblemPods, snapshot.ProblemNodes, snapshot.ProblemClaims}},
	snapshot.HopGangNone:      {gangNone, []string{snapshot.ProblemPods, snapshot.ProblemEvents}},
	snapshot.HopClean:         {clean, []string{snapshot.ProblemLeft}},
}
