package gateway

import (
	"net"
	"strings"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// meet returns the intersection of a listener's and a route's hosts, each the more specific of the
// two. Empty matches any host; a nil result means no intersection.
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

// hostTakes reports whether a pattern (a name, *.suffix, or empty for any) matches a host, which
// may have a port or be a pattern itself.
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
