package gateway

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// entry is one match of a rule for one host.
type entry struct {
	// host is a name, *.suffix, or empty for any.
	host    string
	exact   bool
	path    string
	method  string
	headers map[string]string // by canonical name
	query   map[string]string
	made    time.Time
	route   string // namespace/name
	rule    *rule
}

// entriesOf returns the matches of a rule; a rule without matches matches every path.
func entriesOf(route *gwv1.HTTPRoute, hosts []string, matches []gwv1.HTTPRouteMatch, r *rule) []entry {
	if len(matches) == 0 {
		matches = []gwv1.HTTPRouteMatch{{}}
	}
	var out []entry
	for _, host := range hosts {
		for _, m := range matches {
			e := entry{host: host, path: "/", headers: map[string]string{}, query: map[string]string{}, made: route.CreationTimestamp.Time, route: route.Namespace + "/" + route.Name, rule: r}
			if m.Path != nil && m.Path.Value != nil {
				e.path = *m.Path.Value
			}
			e.exact = m.Path != nil && m.Path.Type != nil && *m.Path.Type == gwv1.PathMatchExact
			if m.Method != nil {
				e.method = string(*m.Method)
			}
			for _, h := range m.Headers { // the first of equal names counts
				if name := http.CanonicalHeaderKey(string(h.Name)); !has(e.headers, name) {
					e.headers[name] = h.Value
				}
			}
			for _, q := range m.QueryParams {
				if name := string(q.Name); !has(e.query, name) {
					e.query[name] = q.Value
				}
			}
			out = append(out, e)
		}
	}
	return out
}

func has(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// order sorts entries by the specification's precedence: more specific host, exact path, longer
// prefix, method, more headers, more query parameters, older route, name. Rules keep their order.
func order(entries []entry) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(
			-cmp.Compare(rank(a.host), rank(b.host)),
			-compareBool(a.exact, b.exact),
			-cmp.Compare(len(a.path), len(b.path)),
			-compareBool(a.method != "", b.method != ""),
			-cmp.Compare(len(a.headers), len(b.headers)),
			-cmp.Compare(len(a.query), len(b.query)),
			a.made.Compare(b.made),
			cmp.Compare(a.route, b.route),
		)
	})
}

// rank of a host: any, then wildcards by length, then names by length.
func rank(host string) int {
	const names = 1000 // a host has at most 253 characters
	if host == "" || strings.HasPrefix(host, "*.") {
		return len(host)
	}
	return names + len(host)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// takes reports whether the entry matches the request.
func (e entry) takes(r *http.Request) bool {
	if !hostTakes(e.host, r.Host) || e.method != "" && e.method != r.Method || !e.takesPath(r.URL.Path) {
		return false
	}
	for name, want := range e.headers {
		if strings.Join(r.Header.Values(name), ",") != want {
			return false
		}
	}
	if len(e.query) == 0 {
		return true
	}
	query := r.URL.Query()
	for name, want := range e.query {
		if have := query[name]; len(have) == 0 || have[0] != want {
			return false
		}
	}
	return true
}

// takesPath matches prefixes by whole elements: /a does not match /ab.
func (e entry) takesPath(path string) bool {
	if e.exact {
		return path == e.path
	}
	prefix := strings.TrimSuffix(e.path, "/")
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}
