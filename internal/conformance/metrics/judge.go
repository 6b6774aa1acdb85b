package metrics

import (
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	prometheusRemedy = "make Prometheus reachable as reach.prometheus of the site file says (url with certificates, or service), then run the check again"
	again            = "run the check again"
)

func addDefects(b *check.Builder, id string, found []defect, prefix string) {
	for _, d := range found {
		b.Fail(id, d.suspect, d.remedy, "%s", prefix+d.message)
	}
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if c.invalid != nil {
		return check.NotObserved(c.invalid.Error())
	}
	if c.Claims() == 0 {
		return check.NotObserved("the site's inventory has no GPUs")
	}
	var b check.Builder
	note := ""
	if base, ok := c.judgeComplete(&b, obs); ok {
		note = c.judgeLoads(&b, obs, base)
	}
	return b.Judgement(fmt.Sprintf("%d GPUs on %d nodes have fresh metrics%s", c.Claims(), len(c.nodes), note))
}

// judgeComplete compares the samples without load with the inventory.
func (c *Check) judgeComplete(b *check.Builder, obs []check.Observation) (base samples, ok bool) {
	base, o, ok := check.RequireLast[samples](b, obs, kindSamples, before, "Prometheus", prometheusRemedy)
	if !ok {
		return base, false
	}
	var hints *targets
	for _, t := range check.OfKind(obs, kindTargets) {
		if f, err := check.Decode[targets](t); err == nil {
			hints = &f
		}
	}
	found := c.defects(base, hints)
	addDefects(b, o.ID, found, "")
	b.Figure(c.describe(base)...)
	return base, len(found) == 0
}

// describe is how many GPUs have each metric, and the age of the oldest sample.
func (c *Check) describe(s samples) []check.Figure {
	var out []check.Figure
	oldest := time.Duration(0)
	for _, m := range c.metrics {
		n := 0
		for _, g := range s.GPUs {
			if len(g.Samples[m.Name]) > 0 && c.nodeOf(g) != "" {
				n++
			}
			for _, v := range g.Samples[m.Name] {
				if m.Required {
					oldest = max(oldest, s.Now.Sub(v.At))
				}
			}
		}
		f := check.Figure{Name: "GPUs with " + m.What, Value: float64(n), Unit: "GPUs"}
		if m.Required {
			f.Limit, f.Relation, f.Source = float64(c.Claims()), "==", "inventory x profile node.gpus: "+c.profile.Node.GPUs.Source
		}
		out = append(out, f)
	}
	return append(out, check.Figure{
		Name: "oldest sample", Value: oldest.Seconds(), Unit: "s", Limit: c.maxAge.Seconds(), Relation: "<=",
		Source: "site telemetry.scrapeInterval x profile telemetry.freshness: " + c.profile.Telemetry.Freshness.Source,
	})
}

// judgeLoads requires that the metrics of the GPUs of each half of the load rise, those of
// the others do not, and all fall after it. It returns a note for the reason.
func (c *Check) judgeLoads(b *check.Builder, obs []check.Observation, base samples) (note string) {
	held, o, ok := check.RequireLast[usage](b, obs, kindUsage, "", "free GPUs", "make the API server reachable with this kubeconfig, then run the check again")
	if !ok {
		return ""
	}
	one, two := halves(c.free(held))
	if len(one) == 0 {
		b.Unobserved(o.ID, "GPUs", "run the check when GPUs are free", "no GPU is free to be loaded")
		return ""
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
		ran, lo, ok := check.RequireLast[load](b, obs, kindLoad, half.name, "the "+half.name, "see why its pods did not run: image telemetry.loadImage, placement, admission")
		if !ok {
			return ""
		}
		if want, got := gpusOf(half.nodes), ran.gpus(); got != want {
			b.Unobserved(lo.ID, "the "+half.name, again, "the load ran on %d GPUs, want %d", got, want)
			return ""
		}
		loads = append(loads, ran)
		now, so, ok := check.RequireLast[samples](b, obs, kindSamples, half.name, "Prometheus", prometheusRemedy)
		if !ok {
			return ""
		}
		f := c.follow(base, now, loads, held)
		found := slices.Concat(c.defects(now, nil), f.defects)
		if since := so.At.Sub(lo.At.Add(lo.Took.Duration)); len(found) > 0 && since < c.settle() {
			b.Unobserved(so.ID, "the "+half.name, again+" when this machine is less busy", "the metrics do not follow it, and were read %s after it ran: they may need %s", since.Round(time.Second), c.settle())
			return ""
		}
		addDefects(b, so.ID, found, "under load: ")
		if b.HasFailed() {
			return "" // the check loads no more
		}
		for _, name := range f.risen {
			risen[name] = true
		}
		for _, name := range f.quiet {
			quiet[name] = true
		}
	}
	if now, o, ok := check.RequireLast[samples](b, obs, kindSamples, after, "Prometheus after the load", prometheusRemedy); ok {
		addDefects(b, o.ID, c.defects(now, nil), "after the load: ")
		addDefects(b, o.ID, c.follow(base, now, nil, held).defects, "after the load: ")
	}
	free := gpusOf(one) + gpusOf(two)
	if !b.HasFailed() && len(risen) != free {
		b.Unobserved("", "GPUs", again, "the metrics of %d GPUs followed the load, want %d", len(risen), free)
	}
	b.Figure(
		check.Figure{Name: "GPUs that followed the load", Value: float64(len(risen)), Unit: "GPUs", Limit: float64(free), Relation: "==", Source: "the GPUs that were free"},
		check.Figure{Name: "GPUs that stayed quiet while others were loaded", Value: float64(len(quiet)), Unit: "GPUs"})
	note = fmt.Sprintf(": %d followed the load, %d stayed quiet while others were loaded", len(risen), len(quiet))
	if busy := c.Claims() - free; busy > 0 {
		note += fmt.Sprintf("; %d were in use and were not loaded", busy)
	}
	return note
}

func gpusOf(nodes map[int][]string) int {
	n := 0
	for gpus, list := range nodes {
		n += gpus * len(list)
	}
	return n
}

func (l load) gpus() int {
	n := 0
	for _, p := range l.Pods {
		n += p.GPUs
	}
	return n
}
