package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/gate/telemetry"
)

// defect is one thing wrong.
type defect struct{ suspect, message, remedy string }

const (
	exporterRemedy = "look at the dcgm-exporter pod of the node and at its target in Prometheus (Status, Targets)"
	countersRemedy = "add the metric to the counters file of dcgm-exporter (its --collectors, the chart's customMetrics)"
	valueRemedy    = "compare with nvidia-smi on the node; see the log of the exporter's pod and of nv-hostengine"
)

// nodeOf is the inventory's name of the node that a GPU is of; empty for none.
func (c *Check) nodeOf(g gpu) string {
	return cmp.Or(telemetry.HostOf(c.nodes, g.Host), telemetry.HostOf(c.nodes, g.Node))
}

// name of a GPU in findings.
func (c *Check) name(g gpu) string {
	return c.nodeOf(g) + "/gpu" + cmp.Or(g.Index, g.UUID)
}

// defects says what is wrong with the samples themselves: anything but exactly one
// fresh and plausible sample of each required metric for each GPU of each node.
// hints explain what is missing, and may be nil.
func (c *Check) defects(s samples, hints *targets) []defect {
	if len(s.GPUs) == 0 {
		return []defect{{"Prometheus", "has none of the GPUs' metrics" + hints.of(""), "see that Prometheus scrapes the dcgm-exporter pods: its ServiceMonitor or scrape annotations"}}
	}
	byNode := map[string][]gpu{}
	for _, g := range s.GPUs {
		byNode[c.nodeOf(g)] = append(byNode[c.nodeOf(g)], g)
	}
	var out []defect
	for _, node := range c.nodes {
		out = append(out, c.nodeDefects(node, s.Now, byNode[node], hints)...)
	}
	return append(out, twice(s.GPUs)...)
}

func (c *Check) nodeDefects(node string, now time.Time, list []gpu, hints *targets) []defect {
	if len(list) == 0 {
		return []defect{{node, fmt.Sprintf("Prometheus has no metric of any GPU of %s%s", node, hints.of(node)), exporterRemedy}}
	}
	var out []defect
	oldest := time.Duration(0)
	for _, m := range c.metrics {
		if !m.Required {
			continue
		}
		have := map[string]bool{}
		for _, g := range list {
			if g.Index == "" && g.UUID == "" {
				continue
			}
			for _, v := range g.Samples[m.Name] {
				have[cmp.Or(g.Index, g.UUID)] = true
				oldest = max(oldest, now.Sub(v.At))
			}
			out = append(out, c.valueDefects(g, m)...)
		}
		if missing := c.missing(have); len(missing) > 0 || len(have) != c.gpus {
			out = append(out, defect{node, fmt.Sprintf("%s (%s) of %s is there for %d GPUs; it must be for %d%s", m.Name, m.What, node, len(have), c.gpus, which(missing)), remedyFor(len(have))})
		}
	}
	if slices.ContainsFunc(list, func(g gpu) bool { return g.Index == "" && g.UUID == "" }) {
		out = append(out, defect{node, "series of " + node + " have neither gpu nor UUID: no GPU can be told from them", "take the relabelling out that drops gpu and UUID"})
	}
	if oldest > c.maxAge {
		out = append(out, defect{node, fmt.Sprintf("the samples of %s are up to %s old by Prometheus' clock; %s is the most", node, oldest.Round(time.Millisecond), c.maxAge),
			"see whether the exporter still collects (its log, nv-hostengine) and whether it exposes timestamps of its own"})
	}
	return out
}

func remedyFor(have int) string {
	if have == 0 {
		return countersRemedy
	}
	return exporterRemedy
}

// missing are the indices of GPUs that lack something; none where they are told by
// UUID only.
func (c *Check) missing(have map[string]bool) []string {
	var out []string
	for i := range c.gpus {
		if index := strconv.Itoa(i); !have[index] {
			out = append(out, index)
		}
	}
	for key := range have {
		if _, err := strconv.Atoi(key); err != nil {
			return nil
		}
	}
	return out
}

func which(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return ": not for gpu " + strings.Join(missing, ", ")
}

// valueDefects are those of one GPU's samples of one metric.
func (c *Check) valueDefects(g gpu, m metric) []defect {
	list := g.Samples[m.Name]
	if len(list) > 1 {
		var from []string
		for _, v := range list {
			from = append(from, cmp.Or(v.Instance, "an unknown instance"))
		}
		slices.Sort(from)
		return []defect{{c.name(g), fmt.Sprintf("%s has %d series of %s (from %s): sums count it more than once", m.Name, len(list), c.name(g), strings.Join(slices.Compact(from), ", ")),
			"see that the GPU is exported by one exporter that is scraped by one job"}}
	}
	for _, v := range list {
		if !(v.Value >= m.Least.Value && v.Value <= m.Most.Value) {
			return []defect{{c.name(g), fmt.Sprintf("%s (%s) of %s is %g %s, which no such GPU has: %g to %g %s", m.Name, m.What, c.name(g), v.Value, m.Unit, m.Least.Value, m.Most.Value, m.Unit), valueRemedy}}
		}
	}
	return nil
}

// twice are GPUs that more than one host claims to have.
func twice(list []gpu) []defect {
	hosts := map[string][]string{}
	for _, g := range list {
		if g.UUID != "" {
			hosts[g.UUID] = append(hosts[g.UUID], cmp.Or(g.Host, g.Node)+"/gpu"+g.Index)
		}
	}
	var out []defect
	for _, g := range list {
		if at := hosts[g.UUID]; len(at) > 1 {
			slices.Sort(at)
			out = append(out, defect{g.UUID, fmt.Sprintf("GPU %s is said to be at %s", g.UUID, strings.Join(at, " and ")), exporterRemedy})
			delete(hosts, g.UUID)
		}
	}
	return out
}

// of says what Prometheus says about the scrape target of a node, or about
// exporters at large when node is empty.
func (t *targets) of(node string) string {
	if t == nil {
		return ""
	}
	var notes []string
	for _, target := range t.Targets {
		if node != "" && !mentions(target.Labels, node) {
			continue
		}
		note := fmt.Sprintf("its target %s is %s", target.ScrapeURL, target.Health)
		if target.LastError != "" {
			note += ": " + target.LastError
		}
		notes = append(notes, note)
	}
	if len(notes) == 0 {
		return "; Prometheus has no target on it"
	}
	return "; " + strings.Join(notes, "; ")
}

func mentions(labels map[string]string, node string) bool {
	for _, v := range labels {
		if strings.EqualFold(v, node) {
			return true
		}
	}
	return false
}
