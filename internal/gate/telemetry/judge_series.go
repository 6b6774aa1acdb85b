package telemetry

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

const prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says (url with certificates, or service), then run the gate again"

// judgeIdle compares the series with the inventory. ok is false if the series are incomplete.
func (g *Gate) judgeIdle(b *check.Builder, obs []check.Observation) (state seriesFigures, ok bool) {
	state, o, ok := check.RequireLast[seriesFigures](b, obs, kindSeries, targetIdle, "Prometheus", prometheusRemedy)
	if !ok {
		return state, false
	}
	if len(state.Series) == 0 && len(g.telemetry.Matchers) > 0 && g.judgeMatchers(b, obs) {
		return state, false
	}
	state = g.judged(state)
	found := g.defects(state, hintsIn(obs))
	for _, d := range found {
		b.Fail(o.ID, d.suspect, d.remedy, "%s", d.message)
	}
	oldest := time.Duration(0)
	for _, s := range state.Series {
		oldest = max(oldest, state.Now.Sub(s.Sampled))
	}
	b.Figure(check.Figure{Name: "GPU series", Value: float64(len(state.Series)), Unit: "series", Limit: float64(g.Claims()), Relation: "==", Source: "inventory x " + g.gpuSource}, check.Figure{Name: "oldest sample", Value: oldest.Seconds(), Unit: "s", Limit: g.maxAge.Seconds(), Relation: "<=", Source: "site telemetry.scrapeInterval x profile telemetry.freshness: " + g.profile.Freshness.Source})
	return state, len(found) == 0
}

// judgeLoaded requires that the series have followed every load.
func (g *Gate) judgeLoaded(b *check.Builder, obs []check.Observation, idle seriesFigures) {
	usage, usageObs, ok := check.RequireLast[usageFigures](b, obs, kindUsage, "", "the free GPUs", "make the API server reachable with this kubeconfig, then run the gate again")
	if !ok {
		return
	}
	if busy := g.busy(usage.Nodes); len(busy) > 0 {
		for _, node := range busy {
			b.Unobserved(usageObs.ID, node, "run the gate when the GPUs are free", "only %d of its %d GPUs are free, so no load could be put on it: %v", usage.Nodes[node].Free(), g.gpus, usage.Nodes[node].Holders)
		}
		return
	}
	for i, want := range g.rounds() {
		if _, _, ok := g.judgeLoad(b, obs, partialTarget(i), partialTarget(i), want); !ok {
			return // later loads were not observed
		}
	}
	if o, loaded, _ := g.judgeLoad(b, obs, targetCluster, targetLoaded, g.whole()); o.Kind != "" {
		g.judgeRise(b, o, utilByUUID(idle), loaded)
	}
}

// judgeLoad requires that the series follow one load. It returns the observation of the series,
// if any.
func (g *Gate) judgeLoad(b *check.Builder, obs []check.Observation, target, of string, want map[string]int) (o check.Observation, state seriesFigures, ok bool) {
	load, l, ok := check.RequireLast[loadFigures](b, obs, kindLoad, target, "the load", "find out why its pods did not run: image telemetry.loadImage, placement, admission")
	if !ok {
		return o, state, false
	}
	if load.Namespace == "" {
		b.Unobserved(l.ID, "the load", "run the gate again", "its namespace is unknown, so series cannot be compared with its pods")
		return o, state, false
	}
	if !load.asPlanned(want) {
		b.Unobserved(l.ID, "the load", "run the gate again", "runs on unexpected GPUs: pods %v with %v GPUs", load.Nodes, load.GPUs)
		return o, state, false
	}
	if !g.judgeClaims(b, l.ID, load) {
		return o, state, false
	}
	state, o, ok = check.RequireLast[seriesFigures](b, obs, kindSeries, of, "Prometheus", prometheusRemedy)
	if !ok {
		return check.Observation{}, state, false
	}
	state = g.judged(state)
	if why := g.mistimed(load, l.At, o.At); why != "" && len(g.loadDefects(want, load, state)) > 0 {
		b.Unobserved(o.ID, "the load", busyRemedy, "the series do not follow it, and %s", why)
		return check.Observation{}, state, false
	}
	found := slices.Concat(g.defects(state, hints{}), g.userDefects(load, state))
	if of != targetLoaded { // judgeRise judges each GPU under the full load
		found = append(found, slices.Concat(g.countDefects(want, state), g.claimDefects(load, state))...)
	}
	for _, d := range found {
		b.Fail(o.ID, d.suspect, d.remedy, "under load: %s", d.message)
	}
	return o, state, len(found) == 0
}

func utilByUUID(f seriesFigures) map[string]float64 {
	out := map[string]float64{}
	for _, s := range f.Series {
		out[s.UUID] = s.Util
	}
	return out
}

// judgeRise compares each GPU's utilisation under load with the profile's and with the idle
// utilisation.
func (g *Gate) judgeRise(b *check.Builder, o check.Observation, idle map[string]float64, loaded seriesFigures) {
	want := g.profile.MinUtilUnderLoad
	lowest, judged := 0.0, 0
	for _, s := range loaded.Series {
		node := g.host(s.Host)
		if node == "" {
			continue // reported by judgeIdle
		}
		suspect := node + "/gpu" + s.GPU
		before, known := idle[s.UUID]
		if judged == 0 || s.Util < lowest {
			lowest = s.Util
		}
		judged++
		switch {
		case !known:
			b.Fail(o.ID, suspect, exporterRemedy, "GPU %s of %s has a series only under load", s.UUID, node)
		case !(s.Util >= want.Value):
			b.Fail(o.ID, suspect,
				"compare with nvidia-smi on the node under load: a constant figure is the exporter's fault, a low one the GPU's",
				"%s of GPU %s on %s is %g %% under full load and was %g %% idle; at least %g %% is expected",
				metric, s.GPU, node, s.Util, before, want.Value)
		case !(s.Util > before):
			b.Fail(o.ID, suspect, "restart the dcgm-exporter pod of the node; read nv-hostengine's log", "%s of GPU %s on %s is %g %% with and without load", metric, s.GPU, node, s.Util)
		}
	}
	if judged == 0 {
		b.Unobserved(o.ID, "Prometheus", prometheusRemedy, "no series under load could be judged")
		return
	}
	b.Figure(check.Figure{Name: "lowest utilisation under load", Value: lowest, Unit: "%", Limit: want.Value, Relation: ">=", Source: "profile telemetry.minUtilUnderLoad: " + want.Source})
}
