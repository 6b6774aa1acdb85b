package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// adapter: the adapter's pods are ready and its API is Available.
func adapter(l look) Result {
	var wrong []check.Finding
	api, there := l.api()
	p, stated := l.program("adapter")
	if stated {
		wrong = append(wrong, programFindings(p, "the metrics adapter", "site autoscale.adapter")...)
	}
	if there {
		wrong = append(wrong, apiFindings(api)...)
	}
	if !there {
		wrong = append(wrong, finding("APIService "+l.apiName(), l.apiName()+" was not looked at", "run again"))
	}
	if len(wrong) > 0 {
		return l.wait(api.Ref, []string{snapshot.ProblemAPIServices, snapshot.ProblemPrograms}, wrong, check.Finding{})
	}
	available, _ := snapshot.Is(api.Conditions, "Available")
	return l.pass(held(available), api.Ref, "%s is Available, served by %s", api.Name, orElse(api.Service, "the API server itself"))
}

// apiName is the group of the metrics API that the chain uses.
func (l look) apiName() string { return l.setup.Metric.API + ".metrics.k8s.io" }

func (l look) api() (snapshot.APIService, bool) {
	i := slices.IndexFunc(l.st.APIs, func(a snapshot.APIService) bool {
		return l.setup.Metric.API != "" && strings.HasSuffix(a.Name, l.apiName())
	})
	if i < 0 {
		return snapshot.APIService{}, false
	}
	return l.st.APIs[i], true
}

func apiFindings(a snapshot.APIService) []check.Finding {
	name := "APIService " + a.Name
	if a.Absent {
		return []check.Finding{finding(name, name+" is not registered: nothing serves this metrics API", "install a metrics adapter with its APIService (prometheus-adapter: docs/autoscale.md)")}
	}
	c, ok := snapshot.Is(a.Conditions, "Available")
	if ok {
		return nil
	}
	if c.Status == "" {
		return []check.Finding{finding(name, name+" has no Available condition: the aggregator has not looked at it", "see the API server's log")}
	}
	return []check.Finding{finding(name, fmt.Sprintf("%s is not Available: %s: %s", name, c.Reason, c.Message),
		fmt.Sprintf("make Service %s reachable from the API server: its endpoints, port, TLS and network policy", orElse(a.Service, "of the adapter")))}
}

func programFindings(p snapshot.Program, what, key string) []check.Finding {
	name := p.String()
	switch {
	case p.Absent:
		return []check.Finding{finding(name, fmt.Sprintf("%s, %s, is not there", name, what), "install it, or say where it is: "+key)}
	case p.Desired < 1:
		return []check.Finding{finding(name, fmt.Sprintf("%s, %s, is scaled to %d", name, what, p.Desired), "scale it up")}
	case p.Ready < p.Desired:
		return []check.Finding{finding(name, fmt.Sprintf("%s, %s, has %d of %d pods ready%s", name, what, p.Ready, p.Desired, because(p.Why)), "see why its pods are not ready: their events and log")}
	default:
		return nil
	}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// series: every GPU of the site has a fresh series that says which GPU it is of.
func series(l look) Result {
	needs := []string{snapshot.ProblemPrometheus}
	metric := snapshot.Ref{Kind: "series", Name: l.setup.Metric.Series}
	if len(l.setup.GPUs) == 0 {
		return l.unknown(metric, finding("site inventory", "the site's inventory has no GPUs, so no series can be expected", "list the GPU nodes in inventory.nodes"))
	}
	var wrong []check.Finding
	total := 0
	for _, node := range slices.Sorted(maps.Keys(l.setup.GPUs)) {
		total += l.setup.GPUs[node]
		wrong = append(wrong, l.seriesOf(node)...)
	}
	if len(wrong) > 0 || total == 0 {
		return l.wait(metric, needs, wrong, finding("site inventory", "no GPU is expected of any node", "see node.gpus of the profile"))
	}
	return l.pass(l.st.At, metric, "%d GPUs of %s have a fresh series %s", total, count(len(l.setup.GPUs), "node"), l.setup.Metric.Series)
}

// seriesOf holds one node's series against its GPUs.
func (l look) seriesOf(node string) []check.Finding {
	name := l.setup.Metric.Series
	i := slices.IndexFunc(l.st.Coverage, func(c snapshot.Coverage) bool { return c.Node == node })
	if i < 0 {
		return []check.Finding{finding(node, fmt.Sprintf("Prometheus was not asked for %s of %s", name, node), "run again")}
	}
	c, want := l.st.Coverage[i], l.setup.GPUs[node]
	const exporter = "see the dcgm-exporter pod of the node, its log, and the target's error in Prometheus (Status, Targets)"
	switch {
	case c.Up == nil && c.Fresh == 0:
		return []check.Finding{finding(node, fmt.Sprintf("Prometheus has no target on %s: series %s is absent", node, name), "see that dcgm-exporter runs on the node and that its ServiceMonitor or scrape configuration selects it")}
	case c.Up != nil && !*c.Up:
		return []check.Finding{finding(node, fmt.Sprintf("the exporter's target on %s is down%s", node, because(c.Trouble)), exporter)}
	case c.Unlabelled > 0:
		return []check.Finding{finding(node, fmt.Sprintf("%s of %s on %s have no label that says which GPU they are of; they have: %s", count(c.Unlabelled, "series"), name, node, some(c.Labels)),
			"keep the labels gpu, UUID and Hostname: see labeldrop and metric_relabel_configs of the scrape configuration or the ServiceMonitor")}
	case c.Fresh < want && c.Stale > 0:
		return []check.Finding{finding(node, fmt.Sprintf("%d of %d GPUs of %s have no fresh sample of %s: they are stale", c.Stale, want, node, name), exporter)}
	case c.Fresh < want:
		return []check.Finding{finding(node, fmt.Sprintf("%d of %d GPUs of %s have a series %s%s", c.Fresh, want, node, name, because(c.Trouble)),
			"compare with nvidia-smi on the node; a host label of another case than the node's name (Hostname, hostname) hides series, too; series here have: "+some(c.Labels))}
	case c.Fresh > want:
		return []check.Finding{finding(node, fmt.Sprintf("%s has %d series %s for %d GPUs: sums count some twice", node, c.Fresh, name, want), "see that one exporter a node runs and is scraped once")}
	default:
		return nil
	}
}
