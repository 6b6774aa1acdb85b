package telemetry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// defect is one defect of the series.
type defect struct {
	suspect, message, remedy string
}

const exporterRemedy = "check the dcgm-exporter pod of the node and its target in Prometheus (Status > Targets)"

// defects are the differences from exactly one fresh series for each GPU of each inventory
// host. h explains missing series.
func (g *Gate) defects(f seriesFigures, h hints) []defect {
	f = g.judged(f)
	if len(f.Series) == 0 {
		return []defect{{
			"Prometheus", "has no series " + metric + h.target(""),
			"check that Prometheus scrapes the dcgm-exporter pods: its ServiceMonitor or scrape annotations, and its own service discovery",
		}}
	}
	var out []defect
	unlabelled := map[string]bool{}
	byHost := map[string][]series{}
	for _, s := range f.Series {
		host := g.host(s.Host)
		switch {
		case s.Host == "":
			if name := exporterOf(s); !unlabelled[name] {
				unlabelled[name] = true
				out = append(out, defect{name + "/Hostname", fmt.Sprintf("exporter %s sends series without a Hostname label: their node is unknown", name),
					"remove the relabelling that drops Hostname (metricRelabelings of the ServiceMonitor, or the exporter's own)"})
			}
		case host == "":
			byHost[s.Host] = append(byHost[s.Host], s)
		default:
			byHost[host] = append(byHost[host], s)
		}
	}
	for _, name := range sortedKeys(byHost) {
		if !slices.Contains(g.nodes, name) {
			out = append(out, defect{name, fmt.Sprintf("%d series are of host %s, which is not in the inventory", len(byHost[name]), name),
				"add the host to the inventory or stop scraping it; if Prometheus has other clusters too, set telemetry.matchers to labels of this one"})
		}
	}
	for _, node := range g.nodes {
		out = append(out, g.nodeDefects(node, f, byHost[node], h)...)
	}
	return append(out, duplicates(f.Series)...)
}

// judged are the series without those of nodes that are not judged.
func (g *Gate) judged(f seriesFigures) seriesFigures {
	if in := g.site.Inventory; len(in.LeftOut)+len(in.OtherNodes) > 0 {
		f.Series = slices.DeleteFunc(slices.Clone(f.Series), func(s series) bool { return HostOf(in.LeftOut, s.Host) != "" || in.OfOtherSite(s.Host) })
	}
	return f
}

// nodeDefects are the defects of one inventory host.
func (g *Gate) nodeDefects(node string, f seriesFigures, list []series, h hints) []defect {
	var out []defect
	uuids := map[string]bool{}
	oldest, newest, elsewhere := time.Duration(0), time.Duration(0), ""
	for _, s := range list {
		if s.UUID == "" {
			out = append(out, defect{node + "/gpu" + s.GPU, "a series of " + node + " has no UUID: its GPU is unknown", exporterRemedy})
			continue
		}
		uuids[s.UUID] = true
		oldest, newest = max(oldest, f.Now.Sub(s.Sampled)), max(newest, s.Sampled.Sub(f.Now))
		if !(s.Util >= 0 && s.Util <= 100) {
			out = append(out, defect{node + "/gpu" + s.GPU, fmt.Sprintf("%s of GPU %s on %s is %g: must be 0 to 100 %%", metric, s.GPU, node, s.Util), exporterRemedy})
		}
		if scraped := g.host(s.Node); scraped != "" && scraped != node {
			elsewhere = scraped
		}
	}
	if elsewhere != "" {
		out = append(out, defect{elsewhere, fmt.Sprintf("series from node %s have the host label %s and are scraped on node %s: findings would name the wrong node", elsewhere, node, elsewhere),
			"check the Hostname of the exporter on that node (its NODE_NAME), and the relabelling that sets it"})
	}
	unlabelled := slices.ContainsFunc(f.Series, func(s series) bool { return s.Host == "" && (s.Node == node || s.Node == "") })
	switch {
	case len(uuids) == g.gpus:
	case len(uuids) == 0 && unlabelled:
		// Its series exist without a host label and are reported above.
	default:
		out = append(out, defect{node, fmt.Sprintf("%s has utilisation series of %d GPUs, want %d%s%s", node, len(uuids), g.gpus, g.lastNote(h.last, node), h.target(node)), exporterRemedy})
	}
	if oldest > g.maxAge {
		out = append(out, defect{node, fmt.Sprintf("the samples of %s are up to %s old by Prometheus' clock, the maximum is %s", node, oldest.Round(time.Millisecond), g.maxAge),
			"check whether the exporter still collects (its log, nv-hostengine) and whether it exposes its own timestamps"})
	}
	if newest > g.maxAge {
		out = append(out, defect{node, fmt.Sprintf("samples of %s are %s in the future by Prometheus' clock: they would never become stale", node, newest.Round(time.Millisecond)),
			"set the clocks of the node and of Prometheus, or check whether the exporter exposes its own timestamps"})
	}
	return out
}

// duplicates are GPUs with more than one series.
func duplicates(list []series) []defect {
	count := map[string][]string{}
	for _, s := range list {
		if s.UUID != "" {
			count[s.UUID] = append(count[s.UUID], exporterOf(s))
		}
	}
	var out []defect
	for _, uuid := range sortedKeys(count) {
		if from := count[uuid]; len(from) > 1 {
			slices.Sort(from)
			out = append(out, defect{uuid, fmt.Sprintf("GPU %s has %d series (from %s): sums and averages count it more than once", uuid, len(from), strings.Join(slices.Compact(from), ", ")),
				"export the GPU from one exporter, scraped by one job"})
		}
	}
	return out
}

// host is the inventory's node for the value of a host label, ignoring case and domain; "" for
// an unknown host.
func (g *Gate) host(label string) string { return HostOf(g.nodes, label) }

// HostOf is the node for the value of a host label, ignoring case and domain; "" for an unknown
// host.
func HostOf(nodes []string, label string) string {
	for _, node := range nodes {
		if strings.EqualFold(node, label) {
			return node
		}
	}
	short, _, _ := strings.Cut(label, ".")
	for _, node := range nodes {
		name, _, long := strings.Cut(node, ".")
		if strings.EqualFold(name, short) && (!long || short == label) {
			return node
		}
	}
	return ""
}

// exporterOf is the exporter of a series by Prometheus' labels.
func exporterOf(s series) string {
	return cmp.Or(s.Node, s.Pod, s.Instance, "of an unknown instance")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
