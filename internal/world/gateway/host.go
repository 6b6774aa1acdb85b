package gateway

import (
	"net"
	"strings"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// meet are the hosts for which a listener serves a route: those of the route that the
// listener has too, each as particular as the more particular of the two. Empty is
// any host; none at all means that the two have nothing in common.
func meet(listener *gwv1.Hostname, route []gwv1.Hostname) []string {
	own := ""
	if listener != nil {
		own = strings.ToLower(string(*listener))
	}
	if len(route) == 0 {
		return []string{own}
	}
	var out []string
	for _, h := range route {
		host := strings.ToLower(string(h))
		switch {
		case hostTakes(own, host):
			out = append(out, host)
		case strings.HasPrefix(host, "*.") && hostTakes(host, own):
			out = append(out, own)
		}
	}
	return out
}

// hostTakes says that a pattern (a name, *.suffix, or empty for any) has a host, which
// may come with a port, or be a pattern itself.
func hostTakes(pattern, host string) bool {
	if pattern == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	suffix, wild := strings.CutPrefix(pattern, "*")
	if !wild {
		return host == pattern
	}
	return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
}
