package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"github.com/firstlight/firstlight/internal/world"
)

// finder resolves a Service to the addresses of its ready pods.
type finder interface {
	find(namespace, service string, port int32) ([]string, error)
}

// proxy serves one port of a Gateway.
type proxy struct {
	backends finder
	table    atomic.Pointer[table]
	faults   atomic.Pointer[world.Gateway]
	turn     atomic.Uint64
	pass     *httputil.ReverseProxy
}

// address is the context key of a request's backend address.
type address struct{}

func newProxy(b finder, transport http.RoundTripper, log *slog.Logger) *proxy {
	p := &proxy{backends: b}
	p.table.Store(&table{})
	p.faults.Store(&world.Gateway{})
	p.pass = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			host, _ := r.In.Context().Value(address{}).(string)
			r.SetURL(&url.URL{Scheme: "http", Host: host})
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		FlushInterval: -1, // token streams
		Transport:     transport,
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelDebug), // client disconnects
	}
	return p
}

// ServeHTTP responds 404 without a match, 500 if a rule has no existing backend and 503 if no
// backend is ready, as specified.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	faults := p.faults.Load()
	rule := p.match(r, faults.IgnoresHeaders)
	if rule == nil {
		http.Error(w, "no route", http.StatusNotFound)
		return
	}
	to, ok := rule.pick(faults.IgnoresWeights)
	if !ok || to.invalid {
		http.Error(w, "no backend", http.StatusInternalServerError)
		return
	}
	found, err := p.backends.find(to.namespace, to.service, to.port)
	switch {
	case errors.Is(err, errNoService):
		http.Error(w, "no such backend", http.StatusInternalServerError)
		return
	case err != nil || len(found) == 0:
		http.Error(w, "no ready endpoint", http.StatusServiceUnavailable)
		return
	}
	host := found[p.turn.Add(1)%uint64(len(found))]
	p.pass.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), address{}, host)))
}

// match returns the first rule that matches a request, or nil.
func (p *proxy) match(r *http.Request, ignoreHeaders bool) *rule {
	for _, e := range *p.table.Load() {
		if ignoreHeaders && len(e.headers) > 0 {
			continue
		}
		if e.takes(r) {
			return e.rule
		}
	}
	return nil
}
