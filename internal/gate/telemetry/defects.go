package telemetry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// defect is one thing wrong with the series.
type defect struct {
	suspect, message, remedy string
}

const exporterRemedy = "look at the dcgm-exporter pod of the node and at its target in Prometheus (Status > Targets)"

// defects says what is wrong with the series: anything but exactly one fresh
// series for each GPU of each inventory host. targets explain what is missing.
func (g *Gate) defects(f seriesFigures, h hints) []defect {
	if len(f.Series) == 0 {
		return []defect{{
			"Prometheus", "has no series " + metric + " at all" + h.target(""),
			"see that Prometheus scrapes the dcgm-exporter pods: its ServiceMonitor or scrape annotations, and its own service discovery",
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
				out = append(out, defect{name + "/Hostname", fmt.Sprintf("exporter %s sends series without a Hostname label: no node can be told from them", name),
					"take the relabelling out that drops Hostname (metricRelabelings of the ServiceMonitor, or the exporter's own)"})
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
				"add the host to the inventory, or stop scraping it"})
		}
	}
	for _, node := range g.nodes {
		out = append(out, g.nodeDefects(node, f, byHost[node], h)...)
	}
	return append(out, duplicates(f.Series)...)
}

// nodeDefects are those of one inventory host.
func (g *Gate) nodeDefects(node string, f seriesFigures, list []series, h hints) []defect {
	var out []defect
	uuids := map[string]bool{}
	oldest, newest, elsewhere := time.Duration(0), time.Duration(0), ""
	for _, s := range list {
		if s.UUID == "" {
			out = append(out, defect{node + "/gpu" + s.GPU, "a series of " + node + " has no UUID: no GPU can be told from it", exporterRemedy})
			continue
		}
		uuids[s.UUID] = true
		oldest, newest = max(oldest, f.Now.Sub(s.Sampled)), max(newest, s.Sampled.Sub(f.Now))
		if !(s.Util >= 0 && s.Util <= 100) {
			out = append(out, defect{node + "/gpu" + s.GPU, fmt.Sprintf("%s of GPU %s on %s is %g, which is no utilisation in %%", metric, s.GPU, node, s.Util), exporterRemedy})
		}
		if scraped := g.host(s.Node); scraped != "" && scraped != node {
			elsewhere = scraped
		}
	}
	if elsewhere != "" {
		out = append(out, defect{elsewhere, fmt.Sprintf("series of %s say that they are of host %s, and are scraped on node %s: every suspect would be another node", elsewhere, node, elsewhere),
			"see the Hostname of the exporter on that node (its NODE_NAME), and the relabelling that sets it"})
	}
	unlabelled := slices.ContainsFunc(f.Series, func(s series) bool { return s.Host == "" && (s.Node == node || s.Node == "") })
	switch {
	case len(uuids) == g.gpus:
	case len(uuids) == 0 && unlabelled:
		// Its series are there and named already: they lack their host.
	default:
		out = append(out, defect{node, fmt.Sprintf("%s has utilisation series of %d GPUs; it must have %d%s%s", node, len(uuids), g.gpus, g.lastNote(h.last, node), h.target(node)), exporterRemedy})
	}
	if oldest > g.maxAge {
		out = append(out, defect{node, fmt.Sprintf("the samples of %s are up to %s old by Prometheus' clock; %s is the most", node, oldest.Round(time.Millisecond), g.maxAge),
			"see whether the exporter still collects (its log, nv-hostengine) and whether it exposes timestamps of its own"})
	}
	if newest > g.maxAge {
		out = append(out, defect{node, fmt.Sprintf("samples of %s are %s in the future by Prometheus' clock: they would stay fresh however old they get", node, newest.Round(time.Millisecond)),
			"set the clocks of the node and of Prometheus, or see whether the exporter exposes timestamps of its own"})
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
				"see that the GPU is exported by one exporter that is scraped by one job"})
		}
	}
	return out
}

// host is the inventory's name of a host label's value; empty for none of it.
// Case and a domain behind the name make no difference.
func (g *Gate) host(label string) string { return HostOf(g.nodes, label) }

// HostOf is that of nodes which a host label's value names; empty for none of them.
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

// exporterOf names where a series comes from, as well as Prometheus knows it.
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
