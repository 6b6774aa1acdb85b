package origin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// ErrElsewhere is of a request to another host than the client was made for.
var ErrElsewhere = errors.New("not followed to another address")

// ErrPlainHTTP is of credentials that would go over the network in clear.
var ErrPlainHTTP = errors.New("credentials are not sent over plain http")

// maxRedirects within the base address, as of net/http.
const maxRedirects = 10

// Client reaches base and what is below it, over next (nil: a transport of its own). A
// timeout of zero is none.
func Client(base string, next http.RoundTripper, timeout time.Duration) (*http.Client, error) {
	u, err := parse(base)
	if err != nil {
		return nil, err
	}
	if next == nil {
		next = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	}
	return &http.Client{Transport: Pin(u, next), Timeout: timeout, CheckRedirect: below(u)}, nil
}

// Forwarded makes a client for ports that are forwarded to pods. A pod's redirect is never
// followed: it would make this machine ask what the pod cannot reach.
func Forwarded(next http.RoundTripper) *http.Client {
	return &http.Client{Transport: next, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		return fmt.Errorf("redirect to %s %w: %s is a forwarded port", name(req.URL), ErrElsewhere, name(via[0].URL))
	}}
}

// below refuses redirects that lead out of base. Behind the API server's proxy the base
// is a path of the API server: another path there is the cluster's and not the Service's.
func below(base *url.URL) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("%d redirects", len(via))
		}
		if !same(base, req.URL) || !under(base.Path, req.URL.Path) {
			return fmt.Errorf("redirect to %s %w: give the final address instead of %s", name(req.URL), ErrElsewhere, name(base))
		}
		return nil
	}
}

// under compares clean paths: "/proxy/../secrets" is not under "/proxy".
func under(base, p string) bool {
	base = path.Clean("/" + base)
	p = path.Clean("/" + p)
	return base == "/" || p == base || strings.HasPrefix(p, base+"/")
}

// Pin refuses requests to other origins than base's before they are sent.
func Pin(base *url.URL, next http.RoundTripper) http.RoundTripper {
	return &pin{base: base, next: next}
}

type pin struct {
	base *url.URL
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p *pin) RoundTrip(req *http.Request) (*http.Response, error) {
	if !same(p.base, req.URL) {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it, also on errors
		}
		return nil, fmt.Errorf("request to %s %w: this client is for %s", name(req.URL), ErrElsewhere, name(p.base))
	}
	return p.next.RoundTrip(req)
}

// WrappedRoundTripper lets client-go find what is below, for streams.
func (p *pin) WrappedRoundTripper() http.RoundTripper { return p.next }

// CloseIdleConnections passes it on.
func (p *pin) CloseIdleConnections() {
	if c, ok := p.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Check refuses credentials for a plain http address; plainHTTP is the site's word that
// they may be read on the way.
func Check(base string, credentials, plainHTTP bool) error {
	u, err := parse(base)
	if err != nil {
		return err
	}
	if credentials && !plainHTTP && !secure(u) {
		return fmt.Errorf("%s: %w: use an https address, or set plainHTTP: true in the site file", name(u), ErrPlainHTTP)
	}
	return nil
}

func parse(base string) (*url.URL, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("invalid address %q: must be an http or https URL", base)
	}
	return u, nil
}

// name is a URL without what may be secret in it.
func name(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

func secure(u *url.URL) bool { return scheme(u) == "https" }

// scheme is that of HTTP also where a connection is to become a stream.
func scheme(u *url.URL) string {
	switch s := strings.ToLower(u.Scheme); s {
	case "ws":
		return "http"
	case "wss":
		return "https"
	default:
		return s
	}
}

func same(a, b *url.URL) bool {
	return scheme(a) == scheme(b) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if secure(u) {
		return "443"
	}
	return "80"
}

// Loopback says that a host, with or without port, is this machine's own.
func Loopback(host string) bool {
	hostname, _, err := net.SplitHostPort(host)
	if err != nil {
		hostname = host
	}
	if hostname == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(hostname, "[]"))
	return ip != nil && ip.IsLoopback()
}
