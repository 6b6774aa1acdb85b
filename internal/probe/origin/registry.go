package origin

import (
	"fmt"
	"net/http"
)

// Registry makes a client for a registry of artifacts. Blobs of registries are often
// kept by another host, so redirects are followed; credentials are sent to the origin
// that they were made for, and in clear to loopback only unless plainHTTP allows it.
func Registry(client *http.Client, plainHTTP bool) *http.Client {
	out := *client
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	out.Transport = &guard{next: next, plainHTTP: plainHTTP}
	out.CheckRedirect = withoutCredentials
	return &out
}

// withoutCredentials drops them when a redirect leaves the origin of the first request:
// net/http keeps them for other ports and subdomains of a host.
func withoutCredentials(req *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("%d redirects", len(via))
	}
	if !same(via[0].URL, req.URL) {
		req.Header.Del("Authorization")
		req.Header.Del("Cookie")
	}
	return nil
}

type guard struct {
	next      http.RoundTripper
	plainHTTP bool
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" && !g.plainHTTP && !secure(req.URL) && !Loopback(req.URL.Host) {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it, also on errors
		}
		return nil, fmt.Errorf("%s: %w", name(req.URL), ErrPlainHTTP)
	}
	return g.next.RoundTrip(req)
}
