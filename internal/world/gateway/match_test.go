package gateway

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		listener string
		route    []gwv1.Hostname
		want     []string
	}{
		"any and any":                {"", nil, []string{""}},
		"the listener's":             {"a.example", nil, []string{"a.example"}},
		"the route's":                {"", []gwv1.Hostname{"a.example", "B.example"}, []string{"a.example", "b.example"}},
		"within a wildcard":          {"*.example", []gwv1.Hostname{"a.example", "other"}, []string{"a.example"}},
		"a route's wildcard":         {"a.example", []gwv1.Hostname{"*.example"}, []string{"a.example"}},
		"the narrower of two":        {"*.example", []gwv1.Hostname{"*.b.example"}, []string{"*.b.example"}},
		"the narrower, the other":    {"*.b.example", []gwv1.Hostname{"*.example"}, []string{"*.b.example"}},
		"nothing in common":          {"a.example", []gwv1.Hostname{"b.example"}, nil},
		"a wildcard is not its root": {"*.example", []gwv1.Hostname{"example"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l *gwv1.Hostname
			if tt.listener != "" {
				l = new(gwv1.Hostname(tt.listener))
			}
			if got := meet(l, tt.route); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestTakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry entry
		ask   string
		want  bool
	}{
		"every path":            {entry{path: "/"}, "/v1/models", true},
		"a prefix":              {entry{path: "/v1"}, "/v1/models", true},
		"the prefix itself":     {entry{path: "/v1/"}, "/v1", true},
		"no part of an element": {entry{path: "/v1"}, "/v10", false},
		"exact":                 {entry{path: "/v1", exact: true}, "/v1", true},
		"exact and longer":      {entry{path: "/v1", exact: true}, "/v1/models", false},
		"another method":        {entry{path: "/", method: "POST"}, "/", false},
		"its method":            {entry{path: "/", method: "GET"}, "/", true},
		"a header":              {entry{path: "/", headers: map[string]string{"Openai-Project": "b"}}, "/", true},
		"another value":         {entry{path: "/", headers: map[string]string{"Openai-Project": "c"}}, "/", false},
		"a missing header":      {entry{path: "/", headers: map[string]string{"X": ""}, query: map[string]string{"q": "1"}}, "/", false},
		"a parameter":           {entry{path: "/", query: map[string]string{"q": "1"}}, "/?q=1&q=2", true},
		"another parameter":     {entry{path: "/", query: map[string]string{"q": "1"}}, "/?q=2", false},
		"another host":          {entry{path: "/", host: "a.example"}, "/", false},
		"its host, with a port": {entry{path: "/", host: "*.test"}, "/", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), "GET", tt.ask, nil)
			r.Host = "gw.test:8080"
			r.Header.Set("OpenAI-Project", "b")
			if got := tt.entry.takes(r); got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	want := []entry{
		{route: "name", host: "a.example", path: "/"},
		{route: "wild", host: "*.a.example", path: "/"},
		{route: "exact", path: "/a", exact: true},
		{route: "longer", path: "/abc/d"},
		{route: "method", path: "/abc", method: "GET"},
		{route: "two headers", path: "/abc", headers: map[string]string{"A": "", "B": ""}},
		{route: "header", path: "/abc", headers: map[string]string{"A": ""}},
		{route: "query", path: "/abc", query: map[string]string{"A": ""}},
		{route: "early", path: "/abc", made: early},
		{route: "late a", path: "/abc", made: late},
		{route: "late b", path: "/abc", made: late},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	for i := range got {
		if got[i].made.IsZero() {
			got[i].made = early
		}
	}
	order(got)
	for i := range want {
		if got[i].route != want[i].route {
			t.Errorf("%d: %s, want %s", i, got[i].route, want[i].route)
		}
	}
}
