package telemetry

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

const prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says (url with certificates, or service), then run the gate again"

// judgeIdle holds the series against the inventory. ok is false when nothing
// more can be told from them.
func (g *Gate) judgeIdle(c *conclusions, obs []check.Observation) (ok bool) {
	o, state, ok := last[seriesFigures](c, obs, kindSeries, targetIdle, "Prometheus", prometheusRemedy)
	if !ok {
		return false
	}
	found := g.defects(state, hintsIn(obs))
	for _, d := range found {
		c.fail(o, d.suspect, d.message, d.remedy)
	}
	oldest := time.Duration(0)
	for _, s := range state.Series {
		oldest = max(oldest, state.Now.Sub(s.Sampled))
	}
	c.figures = append(c.figures,
		check.Figure{Name: "GPU series", Value: float64(len(state.Series)), Unit: "series", Limit: float64(g.Claims()), Relation: "==", Source: "inventory x " + g.gpuSource},
		check.Figure{Name: "oldest sample", Value: oldest.Seconds(), Unit: "s", Limit: g.maxAge.Seconds(), Relation: "<=", Source: "site telemetry.scrapeInterval x profile telemetry.freshness: " + g.profile.Freshness.Source})
	return len(found) == 0
}

// judgeLoaded requires that the series have followed every load.
func (g *Gate) judgeLoaded(c *conclusions, obs []check.Observation) {
	usageObs, usage, ok := last[usageFigures](c, obs, kindUsage, "", "the free GPUs", "make the API server reachable with this kubeconfig, then run the gate again")
	if !ok {
		return
	}
	if busy := g.busy(usage.Nodes); len(busy) > 0 {
		for _, node := range busy {
			c.missing(usageObs, node, fmt.Sprintf("only %d of its %d GPUs are free, so no load could be put on it: %v", usage.Nodes[node].Free(), g.gpus, usage.Nodes[node].Holders),
				"run the gate when the GPUs are free")
		}
		return
	}
	for i, want := range g.rounds() {
		if _, _, ok := g.judgeLoad(c, obs, partialTarget(i), partialTarget(i), want); !ok {
			return // what comes after it was not looked at
		}
	}
	if o, loaded, _ := g.judgeLoad(c, obs, targetCluster, targetLoaded, g.whole()); o.Kind != "" {
		g.judgeRise(c, o, idleByUUID(obs), loaded)
	}
}

// judgeLoad requires that the series follow one load. The observation of the series is returned
// where there is one.
func (g *Gate) judgeLoad(c *conclusions, obs []check.Observation, target, of string, want map[string]int) (o check.Observation, state seriesFigures, ok bool) {
	l, load, ok := last[loadFigures](c, obs, kindLoad, target, "the load", "see why its pods did not run: image telemetry.loadImage, placement, admission")
	if !ok {
		return o, state, false
	}
	if load.Namespace == "" {
		c.missing(l, "the load", "in which namespace it ran is not known, so no series can be held against its pods", "run the gate again")
		return o, state, false
	}
	if !load.asPlanned(want) {
		c.missing(l, "the load", fmt.Sprintf("runs on other GPUs than it should: pods %v with %v GPUs", load.Nodes, load.GPUs), "run the gate again")
		return o, state, false
	}
	o, state, ok = last[seriesFigures](c, obs, kindSeries, of, "Prometheus", prometheusRemedy)
	if !ok {
		return check.Observation{}, state, false
	}
	found := slices.Concat(g.defects(state, hints{}), g.userDefects(load, state))
	if of != targetLoaded { // judgeRise says of each GPU what did not follow the whole load
		found = append(found, g.countDefects(want, state)...)
	}
	for _, d := range found {
		c.fail(o, d.suspect, "under load: "+d.message, d.remedy)
	}
	return o, state, len(found) == 0
}

func idleByUUID(obs []check.Observation) map[string]float64 {
	idle := map[string]float64{}
	for _, o := range check.OfKind(obs, kindSeries) {
		if o.Target != targetIdle {
			continue
		}
		f, err := check.Decode[seriesFigures](o)
		if err != nil {
			continue
		}
		for _, s := range f.Series {
			idle[s.UUID] = s.Util
		}
	}
	return idle
}

// judgeRise holds each GPU's utilisation under load against the profile's and
// against what it was before.
func (g *Gate) judgeRise(c *conclusions, o check.Observation, idle map[string]float64, loaded seriesFigures) {
	want := g.profile.MinUtilUnderLoad
	lowest, judged := 0.0, 0
	for _, s := range loaded.Series {
		node := g.host(s.Host)
		if node == "" {
			continue // said already
		}
		suspect := node + "/gpu" + s.GPU
		before, known := idle[s.UUID]
		if judged == 0 || s.Util < lowest {
			lowest = s.Util
		}
		judged++
		switch {
		case !known:
			c.fail(o, suspect, fmt.Sprintf("GPU %s of %s has a series only under load", s.UUID, node), exporterRemedy)
		case !(s.Util >= want.Value):
			c.fail(o, suspect, fmt.Sprintf("%s of GPU %s on %s is %g %% under full load and was %g %% without; at least %g %% is expected", metric, s.GPU, node, s.Util, before, want.Value),
				"compare with nvidia-smi on the node while it is loaded: a frozen figure is the exporter's, a low one is the GPU's")
		case !(s.Util > before):
			c.fail(o, suspect, fmt.Sprintf("%s of GPU %s on %s is %g %% with and without load: it does not move", metric, s.GPU, node, s.Util),
				"restart the dcgm-exporter pod of the node; see nv-hostengine's log")
		}
	}
	if judged == 0 {
		c.missing(o, "Prometheus", "no series under load could be judged", prometheusRemedy)
		return
	}
	c.figures = append(c.figures, check.Figure{Name: "lowest utilisation under load", Value: lowest, Unit: "%", Limit: want.Value, Relation: ">=", Source: "profile telemetry.minUtilUnderLoad: " + want.Source})
}
