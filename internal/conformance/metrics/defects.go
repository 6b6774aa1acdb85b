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

// defect becomes a finding.
type defect struct{ suspect, message, remedy string }

const (
	exporterRemedy = "see the dcgm-exporter pod of the node and its target in Prometheus (Status, Targets)"
	countersRemedy = "add the metric to the counters file of dcgm-exporter (its --collectors, the chart's customMetrics)"
	valueRemedy    = "compare with nvidia-smi on the node; see the log of the exporter's pod and of nv-hostengine"
)

// nodeOf is the inventory's name of a GPU's node; empty where it is not in the inventory.
func (c *Check) nodeOf(g gpu) string {
	return cmp.Or(telemetry.HostOf(c.nodes, g.Host), telemetry.HostOf(c.nodes, g.Node))
}

// name identifies a GPU in findings.
func (c *Check) name(g gpu) string {
	return c.nodeOf(g) + "/gpu" + cmp.Or(g.Index, g.UUID)
}

// defects lists the deviations from exactly one fresh and plausible sample of each required
// metric for each GPU of each node. hints explain missing samples, and may be nil.
func (c *Check) defects(s samples, hints *targets) []defect {
	if len(s.GPUs) == 0 {
		return []defect{{"Prometheus", "has no GPU metrics" + hints.of(""), "see that Prometheus scrapes the dcgm-exporter pods: its ServiceMonitor or scrape annotations"}}
	}
	byNode := map[string][]gpu{}
	for _, g := range s.GPUs {
		byNode[c.nodeOf(g)] = append(byNode[c.nodeOf(g)], g)
	}
	var out []defect
	for _, node := range c.nodes {
		out = append(out, c.nodeDefects(node, s.Now, byNode[node], hints)...)
	}
	return append(out, duplicates(s.GPUs)...)
}

func (c *Check) nodeDefects(node string, now time.Time, list []gpu, hints *targets) []defect {
	if len(list) == 0 {
		return []defect{{node, fmt.Sprintf("Prometheus has no GPU metrics of %s%s", node, hints.of(node)), exporterRemedy}}
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
			out = append(out, defect{node, fmt.Sprintf("%s (%s) of %s exists for %d GPUs, want %d%s", m.Name, m.What, node, len(have), c.gpus, which(missing)), remedyFor(len(have))})
		}
	}
	if slices.ContainsFunc(list, func(g gpu) bool { return g.Index == "" && g.UUID == "" }) {
		out = append(out, defect{node, "series of " + node + " have neither gpu nor UUID, so their GPU is unknown", "remove the relabelling that drops gpu and UUID"})
	}
	if oldest > c.maxAge {
		out = append(out, defect{node, fmt.Sprintf("the samples of %s are up to %s old by Prometheus' clock, want at most %s", node, oldest.Round(time.Millisecond), c.maxAge),
			"see whether the exporter still collects (its log, nv-hostengine) and whether it exposes its own timestamps"})
	}
	return out
}

func remedyFor(have int) string {
	if have == 0 {
		return countersRemedy
	}
	return exporterRemedy
}

// missing lists the indices of GPUs without a sample; none where GPUs are known by UUID only.
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
	return ": missing for gpu " + strings.Join(missing, ", ")
}

// valueDefects judges one GPU's samples of one metric.
func (c *Check) valueDefects(g gpu, m metric) []defect {
	list := g.Samples[m.Name]
	if len(list) > 1 {
		var from []string
		for _, v := range list {
			from = append(from, cmp.Or(v.Instance, "an unknown instance"))
		}
		slices.Sort(from)
		return []defect{{c.name(g), fmt.Sprintf("%s has %d series of %s (from %s): sums count it several times", m.Name, len(list), c.name(g), strings.Join(slices.Compact(from), ", ")),
			"see that one exporter exports the GPU, and one job scrapes it"}}
	}
	for _, v := range list {
		if !(v.Value >= m.Least.Value && v.Value <= m.Most.Value) {
			return []defect{{c.name(g), fmt.Sprintf("%s (%s) of %s is %g %s, which is implausible: want %g to %g %s", m.Name, m.What, c.name(g), v.Value, m.Unit, m.Least.Value, m.Most.Value, m.Unit), valueRemedy}}
		}
	}
	return nil
}

// duplicates lists the GPUs that several hosts export.
func duplicates(list []gpu) []defect {
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
			out = append(out, defect{g.UUID, fmt.Sprintf("GPU %s is exported by %s", g.UUID, strings.Join(at, " and ")), exporterRemedy})
			delete(hosts, g.UUID)
		}
	}
	return out
}

// of describes the scrape targets of a node, or all exporters when node is empty.
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
		return "; Prometheus has no such target"
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
