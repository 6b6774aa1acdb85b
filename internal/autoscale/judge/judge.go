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
	judge, ok := judges[name]
	if !ok {
		return Result{Judgement: check.NotObserved("hop " + name + " has no judge")}
	}
	return judge(lookup{s, st})
}

// NotApplicable returns why a hop does not apply to a chain with setup s.
func NotApplicable(name string, s snapshot.Setup) (why string, excused bool) {
	switch {
	case s.Pool.Stay && slices.Contains(ofNodes(), name):
		return "replicas stay on existing nodes: no node has to be added", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "" && s.Pool.Autoscaler == karpenter:
		return "the run uses an existing NodePool (--pool) and creates none with limit 0", true
	case name == snapshot.HopLimitZero && s.Pool.Zero == "":
		return "no NodePool to limit to 0: nodes come from " + s.Pool.Autoscaler, true
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

var judges = map[string]func(lookup) Result{
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
