package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// adapter requires ready adapter pods and an Available APIService.
func adapter(l lookup) Result {
	var wrong []check.Finding
	api, existed := l.api()
	p, found := l.program("adapter")
	if found {
		wrong = append(wrong, programFindings(p, "the metrics adapter", "site autoscale.adapter")...)
	}
	if existed {
		wrong = append(wrong, apiFindings(api)...)
	}
	if owner, _, named := strings.Cut(api.Service, "/"); existed && found && len(wrong) == 0 && named && owner != p.Namespace {
		wrong = append(wrong, finding("APIService "+api.Name,
			"let the adapter own the APIService, or use the other metrics API (--metric custom): a cluster has one provider of each, such as KEDA or Datadog",
			"%s is served by %s, not by %s: it does not have the adapter's rules", api.Name, api.Service, p.String()))
	}
	if !existed {
		wrong = append(wrong, finding("APIService "+l.apiName(), "run again", "%s was not observed", l.apiName()))
	}
	if len(wrong) > 0 {
		return l.wait(api.Ref, wrong, check.Finding{})
	}
	available, _ := snapshot.Is(api.Conditions, "Available")
	return l.pass(transitionTime(available), api.Ref, "%s is Available, served by %s", api.Name, cmp.Or(api.Service, "the API server itself"))
}

// apiName is the API group of the chain's metric.
func (l lookup) apiName() string { return l.setup.Metric.API + ".metrics.k8s.io" }

func (l lookup) api() (snapshot.APIService, bool) {
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
		return []check.Finding{finding(name,
			"install a metrics adapter with its APIService (prometheus-adapter: docs/autoscale.md)",
			"%s is not registered: nothing serves this metrics API", name)}
	}
	c, ok := snapshot.Is(a.Conditions, "Available")
	if ok {
		return nil
	}
	if c.Status == "" {
		return []check.Finding{finding(name, "see the API server's log", "%s has no Available condition: the API aggregator has not reported on it", name)}
	}
	return []check.Finding{finding(name,
		fmt.Sprintf("make Service %s reachable from the API server: its endpoints, port, TLS and network policy", cmp.Or(a.Service, "of the adapter")),
		"%s is not Available: %s: %s", name, c.Reason, c.Message)}
}

func programFindings(p snapshot.Program, what, key string) []check.Finding {
	name := p.String()
	switch {
	case p.Absent:
		return []check.Finding{finding(name, "install it, or set its location: "+key, "%s, %s, not found", name, what)}
	case p.Desired < 1:
		return []check.Finding{finding(name, "scale it up", "%s, %s, is scaled to %d", name, what, p.Desired)}
	case p.Ready < p.Desired:
		return []check.Finding{finding(name,
			"see why its pods are not ready: their events and log",
			"%s, %s, has %d of %d pods ready%s", name, what, p.Ready, p.Desired, because(p.Why))}
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

// series requires a fresh series with GPU labels for every GPU of the site.
func series(l lookup) Result {
	metric := snapshot.Ref{Kind: "series", Name: l.setup.Metric.Series}
	if len(l.setup.GPUs) == 0 {
		return l.unobserved(metric, finding("site inventory",
			"list the GPU nodes in inventory.nodes",
			"the site's inventory lists no GPUs"))
	}
	var wrong []check.Finding
	total := 0
	for _, node := range slices.Sorted(maps.Keys(l.setup.GPUs)) {
		total += l.setup.GPUs[node]
		wrong = append(wrong, l.seriesOf(node)...)
	}
	if len(wrong) > 0 || total == 0 {
		return l.wait(metric, wrong, finding("site inventory", "see node.gpus of the profile", "no node is expected to have GPUs"))
	}
	return l.pass(l.st.At, metric, "%d GPUs of %s have a fresh series %s", total, count(len(l.setup.GPUs), "node"), l.setup.Metric.Series)
}

// seriesOf compares a node's series with its GPUs.
func (l lookup) seriesOf(node string) []check.Finding {
	name := l.setup.Metric.Series
	i := slices.IndexFunc(l.st.Coverage, func(c snapshot.Coverage) bool { return c.Node == node })
	if i < 0 {
		return []check.Finding{finding(node, "run again", "Prometheus was not queried for %s of %s", name, node)}
	}
	c, want := l.st.Coverage[i], l.setup.GPUs[node]
	const exporter = "see the dcgm-exporter pod of the node, its log, and the target's error in Prometheus (Status, Targets)"
	switch {
	case c.Up == nil && c.Fresh == 0:
		return []check.Finding{finding(node,
			"check that dcgm-exporter runs on the node and that its ServiceMonitor or scrape configuration selects it",
			"Prometheus shows no target on %s: series %s is absent%s", node, name, because(c.Trouble))}
	case c.Up != nil && !*c.Up:
		return []check.Finding{finding(node, exporter, "the exporter's target on %s is down%s", node, because(c.Trouble))}
	case c.Unlabelled > 0:
		return []check.Finding{finding(node,
			"keep the labels gpu, UUID and Hostname: see labeldrop and metric_relabel_configs of the scrape configuration or the ServiceMonitor",
			"%s of %s on %s have no GPU label; their labels: %s", count(c.Unlabelled, "series"), name, node, listOrNone(c.Labels))}
	case c.Fresh < want && c.Stale > 0:
		return []check.Finding{finding(node, exporter, "%d of %d GPUs of %s have only stale samples of %s", c.Stale, want, node, name)}
	case c.Fresh < want:
		return []check.Finding{finding(node,
			"compare with nvidia-smi on the node; a host label of another case than the node's name (Hostname, hostname) also hides series; labels here:  "+listOrNone(c.Labels),
			"%d of %d GPUs of %s have a series %s%s", c.Fresh, want, node, name, because(c.Trouble))}
	case c.Fresh > want:
		return []check.Finding{finding(node,
			"run one exporter on each node and scrape it once",
			"%s has %d series %s for %d GPUs: sums count some twice", node, c.Fresh, name, want)}
	default:
		return nil
	}
}
