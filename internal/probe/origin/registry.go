package origin

import (
	"cmp"
	"fmt"
	"net/http"
)

// Registry is a client for an OCI registry. It follows redirects, because registries often
// store blobs on another host. It sends credentials to the first origin only, and over plain
// HTTP only to loopback addresses unless plainHTTP is set.
func Registry(client *http.Client, plainHTTP bool) *http.Client {
	out := *client
	next := cmp.Or(client.Transport, http.DefaultTransport)
	out.Transport = &guard{next: next, plainHTTP: plainHTTP}
	out.CheckRedirect = withoutCredentials
	return &out
}

// withoutCredentials removes credentials from redirects to another origin: net/http keeps them
// for other ports and subdomains of a host.
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

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" && !g.plainHTTP && !secure(req.URL) && !Loopback(req.URL.Host) {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it, also on errors
		}
		return nil, fmt.Errorf("%s: %w", name(req.URL), ErrPlainHTTP)
	}
	return g.next.RoundTrip(req)
}
