package snapshot

// The hops, in the order of the chain.
const (
	// Before.
	HopAdapter = "adapter"  // adapter runs, APIService Available
	HopPool    = "nodepool" // autoscaler runs, NodePool ready, GPU limit, instance types with GPUs
	HopSeries  = "series"   // every GPU of the site has a fresh series with its labels
	HopServed  = "served"   // the metrics API serves the metric, and its value is made of the load's GPUs
	// Control.
	HopPlaced    = "placed"     // the first replica runs on a node of the pool, the idle holder on an initial GPU
	HopFlat      = "flat"       // metric below target for the window: no scaling, no node
	HopLimitZero = "limit-zero" // a pod of the pool with limit 0 stays Pending, no NodeClaim
	// Up.
	HopLoad          = "load"          // the load's pods run on initial GPUs
	HopExporter      = "exporter"      // the sample rises in the exporter
	HopPrometheus    = "prometheus"    // the value rises above the target in Prometheus
	HopMetricsAPI    = "metrics-api"   // ... at the metrics API
	HopHPA           = "hpa"           // the HPA desires more replicas
	HopPods          = "pods"          // the pods are created
	HopUnschedulable = "unschedulable" // FailedScheduling: no node has room
	HopNodeClaim     = "nodeclaim"     // a NodeClaim for each, because of those pods
	HopRegistered    = "registered"    // its node is registered
	HopReady         = "ready"         // its node is Ready
	HopBound         = "bound"         // those pods are bound to those nodes, and run
	// Down.
	HopMetricFalls = "metric-falls" // the load is gone, the value below the target at the metrics API
	HopHPADown     = "hpa-down"     // the HPA desires the minimum again
	HopPodsGone    = "pods-gone"    // those very pods have ended
	HopNodesGone   = "nodes-gone"   // those very nodes are drained and deleted
	HopClaimsGone  = "claims-gone"  // their claims too
	HopBystanders  = "bystanders"   // earlier nodes are still there
	// Gang.
	HopGangBound = "gang-bound" // a gang larger than the free nodes: all are bound together
	HopGangNone  = "gang-none"  // with the limit one node short: none is bound
	// Clean up.
	HopClean = "clean" // nothing with the run's label is left
)

// The phases.
const (
	PhaseBefore  = "before"
	PhaseControl = "control"
	PhaseUp      = "up"
	PhaseDown    = "down"
	PhaseGang    = "gang"
	PhaseClean   = "clean"
)

// Phase is a part of the chain with its hops, in order.
type Phase struct {
	Name string
	Hops []string
}

// Chain is all phases, in order.
func Chain() []Phase {
	return []Phase{
		{PhaseBefore, []string{HopAdapter, HopPool, HopSeries}},
		{PhaseControl, []string{HopPlaced, HopServed, HopFlat, HopLimitZero}},
		{PhaseUp, []string{
			HopLoad, HopExporter, HopPrometheus, HopMetricsAPI, HopHPA, HopPods, HopUnschedulable,
			HopNodeClaim, HopRegistered, HopReady, HopBound,
		}},
		{PhaseDown, []string{HopMetricFalls, HopHPADown, HopPodsGone, HopNodesGone, HopClaimsGone, HopBystanders}},
		{PhaseGang, []string{HopGangBound, HopGangNone}},
		{PhaseClean, []string{HopClean}},
	}
}
