package metrics

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeLoads wants the GPUs of each half of the load to have risen and the others
// not, and all to have fallen after it.
func (c *Check) judgeLoads(out *conclusions, obs []check.Observation, base samples) {
	o, held, ok := last[usage](out, obs, kindUsage, "", "the free GPUs", "make the API server reachable with this kubeconfig, then run the check again")
	if !ok {
		return
	}
	one, two := halves(c.free(held))
	if len(one) == 0 {
		out.missing(o, "GPUs", "no GPU is free, so none could be shown to follow a load", "run the check when GPUs are free")
		return
	}
	var loads []load
	risen, quiet := map[string]bool{}, map[string]bool{}
	for _, half := range []struct {
		name  string
		nodes map[int][]string
	}{{first, one}, {second, two}} {
		if len(half.nodes) == 0 {
			continue
		}
		lo, ran, ok := last[load](out, obs, kindLoad, half.name, "the "+half.name, "see why its pods did not run: image telemetry.loadImage, placement, admission")
		if !ok {
			return
		}
		if want, got := wanted(half.nodes), ran.gpus(); got != want {
			out.missing(lo, "the "+half.name, fmt.Sprintf("the load ran on %d GPUs, %d were free for it", got, want), "run the check again")
			return
		}
		loads = append(loads, ran)
		so, now, ok := last[samples](out, obs, kindSamples, half.name, "Prometheus", prometheusRemedy)
		if !ok {
			return
		}
		under := "under load: "
		out.fail(so, c.defects(now, nil), under)
		f := c.follow(base, now, loads, held)
		out.fail(so, f.wrong, under)
		if len(out.wrong) > 0 {
			return // nothing more was loaded
		}
		note(risen, f.risen)
		note(quiet, f.quiet)
	}
	c.judgeAfter(out, obs, base, held)
	c.judgeFollowed(out, held, risen, quiet)
}

// judgeAfter wants all to be as before when the load is gone.
func (c *Check) judgeAfter(out *conclusions, obs []check.Observation, base samples, held usage) {
	o, now, ok := last[samples](out, obs, kindSamples, after, "Prometheus after the load", prometheusRemedy)
	if !ok {
		return
	}
	out.fail(o, c.defects(now, nil), "after the load: ")
	out.fail(o, c.follow(base, now, nil, held).wrong, "after the load: ")
}

func (c *Check) judgeFollowed(out *conclusions, held usage, risen, quiet map[string]bool) {
	free := 0
	for _, n := range c.free(held) {
		free += n
	}
	if len(out.wrong) == 0 && len(risen) != free { // zero GPUs that follow are no pass
		out.missing(check.Observation{}, "GPUs", fmt.Sprintf("%d GPUs were seen to follow the load, %d were free for it", len(risen), free), "run the check again")
	}
	out.figures = append(out.figures,
		check.Figure{Name: "GPUs that followed the load", Value: float64(len(risen)), Unit: "GPUs", Limit: float64(free), Relation: "==", Source: "the GPUs that were free"},
		check.Figure{Name: "GPUs that stayed quiet beside it", Value: float64(len(quiet)), Unit: "GPUs"})
	out.note = fmt.Sprintf(": %d followed the load, %d stayed quiet while others were loaded", len(risen), len(quiet))
	if busy := c.Claims() - free; busy > 0 {
		out.note += fmt.Sprintf("; %d were in use and were not loaded", busy)
	}
}

// wanted is how many GPUs a half has.
func wanted(nodes map[int][]string) int {
	n := 0
	for gpus, list := range nodes {
		n += gpus * len(list)
	}
	return n
}

// gpus is how many a load holds.
func (l load) gpus() int {
	n := 0
	for _, p := range l.Pods {
		n += p.GPUs
	}
	return n
}

func note(set map[string]bool, names []string) {
	for _, n := range names {
		set[n] = true
	}
}
