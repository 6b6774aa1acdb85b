package metric

import (
	"net"
	"net/url"
	"strings"
)

// hosts maps labels of series to the site's GPU nodes.
type hosts struct {
	nodes []string
	// byPod and byIP are the exporters' pods.
	byPod, byIP map[string]string
}

// of returns the site's name of a series' node; empty if unknown. dcgm-exporter calls the
// label Hostname, newer versions hostname, and some append a domain.
func (h hosts) of(labels map[string]string) string {
	for name, value := range labels {
		if strings.EqualFold(name, "hostname") {
			if n := h.named(value); n != "" {
				return n
			}
		}
	}
	for _, name := range []string{"node", "kubernetes_node", "exported_node"} {
		if n := h.named(labels[name]); n != "" {
			return n
		}
	}
	if n := h.byPod[labels["pod"]]; n != "" {
		return n
	}
	host, _, err := net.SplitHostPort(labels["instance"])
	if err != nil {
		return ""
	}
	if n := h.byIP[host]; n != "" {
		return n
	}
	return h.named(host)
}

func (h hosts) named(value string) string {
	if value == "" {
		return ""
	}
	for _, n := range h.nodes {
		if strings.EqualFold(n, value) {
			return n
		}
	}
	short, _, _ := strings.Cut(value, ".")
	for _, n := range h.nodes {
		name, _, long := strings.Cut(n, ".")
		if strings.EqualFold(name, short) && (!long || short == value) {
			return n
		}
	}
	return ""
}

// target is the node of a scrape target.
func (h hosts) target(labels map[string]string, scrapeURL string) string {
	if n := h.of(labels); n != "" {
		return n
	}
	u, err := url.Parse(scrapeURL)
	if err != nil {
		return ""
	}
	if n := h.byIP[u.Hostname()]; n != "" {
		return n
	}
	for _, v := range labels {
		if n := h.named(v); n != "" {
			return n
		}
	}
	return ""
}
