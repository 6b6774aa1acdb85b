// Package judge decides each hop of the autoscaling chain: a pure function of
// the Setup and of the State that was stored for the hop.
//
// Objects are told apart by UID, never by count or name alone; one without a UID
// is nobody. What was observed not to hold is failed, with the likely reason;
// what could not be looked at is unobserved; zero items never pass.
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
	// At is when what the hop waits for happened; zero when it did not.
	At time.Time
	// Object is what it happened to, with its UID.
	Object snapshot.Ref
	// Final: what was seen will not become a pass by waiting.
	Final bool
}

// Hop judges a hop from the state stored for it. A hop that has not happened
// yet is failed with the likely reason, or unobserved when what it needs could
// not be looked at; the observer asks again until its deadline.
func Hop(name string, s snapshot.Setup, st snapshot.State) Result {
	if why, excused := Excused(name, s); excused {
		return notApplicable(why)
	}
	judge, ok := judges[name]
	if !ok {
		return Result{Judgement: check.CouldNotObserve("hop " + name + " has no judge")}
	}
	return judge(look{s, st})
}

// Excused says why a hop does not concern a chain that was asked to do s.
func Excused(name string, s snapshot.Setup) (why string, excused bool) {
	switch {
	case s.Pool.Stay && slices.Contains(ofNodes(), name):
		return "replicas stay on the nodes that are there: none has to come for them", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "" && s.Pool.Autoscaler == karpenter:
		return "the run uses an existing NodePool (--pool) and makes none with limit 0", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "":
		return "there is no NodePool to limit to 0: nodes come from " + s.Pool.Autoscaler, true
	case (name == snapshot.HopGangBound || name == snapshot.HopGangNone) && s.Gang == 0 && s.GangWhy != "":
		return s.GangWhy, true
	case name == snapshot.HopClean && s.Keep:
		return "what was created is kept (--keep)", true
	default:
		return "", false
	}
}

// ofNodes are the hops that are about nodes which come and go.
func ofNodes() []string {
	return []string{
		snapshot.HopPool, snapshot.HopLimitZero, snapshot.HopUnschedulable, snapshot.HopNodeClaim, snapshot.HopRegistered, snapshot.HopReady,
		snapshot.HopNodesGone, snapshot.HopClaimsGone, snapshot.HopGangBound, snapshot.HopGangNone,
	}
}

// judges by hop.
var judges = map[string]func(look) Result{
	snapshot.HopAdapter:       adapter,
	snapshot.HopPool:          nodepool,
	snapshot.HopSeries:        series,
	snapshot.HopPlaced:        placed,
	snapshot.HopServed:        served,
	snapshot.HopFlat:          flat,
	snapshot.HopLimitZero:     limitZero,
	snapshot.HopLoad:          load,
	snapshot.HopExporter:      exporter,
	snapshot.HopPrometheus:    prometheus,
	snapshot.HopMetricsAPI:    metricsAPI,
	snapshot.HopHPA:           hpa,
	snapshot.HopPods:          pods,
	snapshot.HopUnschedulable: unschedulable,
	snapshot.HopNodeClaim:     nodeclaim,
	snapshot.HopRegistered:    registered,
	snapshot.HopReady:         ready,
	snapshot.HopBound:         bound,
	snapshot.HopMetricFalls:   metricFalls,
	snapshot.HopHPADown:       hpaDown,
	snapshot.HopPodsGone:      podsGone,
	snapshot.HopNodesGone:     nodesGone,
	snapshot.HopClaimsGone:    claimsGone,
	snapshot.HopBystanders:    bystanders,
	snapshot.HopGangBound:     gangBound,
	snapshot.HopGangNone:      gangNone,
	snapshot.HopClean:         clean,
}
