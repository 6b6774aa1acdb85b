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

// ErrOtherOrigin is returned for a request to another origin than that of the client.
var ErrOtherOrigin = errors.New("not followed to another address")

// ErrPlainHTTP is returned for credentials that would be sent unencrypted.
var ErrPlainHTTP = errors.New("credentials are not sent over plain http")

// maxRedirects is the limit of net/http.
const maxRedirects = 10

// Client is a client for base and the paths below it, over next (nil: a new transport). A
// timeout of 0 disables the timeout.
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

// Forwarded is a client for ports that are forwarded to pods. It follows no redirect: a pod
// could redirect this host to an address that the pod cannot access.
func Forwarded(next http.RoundTripper) *http.Client {
	return &http.Client{Transport: next, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		return fmt.Errorf("redirect to %s %w: %s is a forwarded port", name(req.URL), ErrOtherOrigin, name(via[0].URL))
	}}
}

// below rejects redirects out of base. Behind the API server proxy base is a path of the API
// server: other paths belong to the cluster, not to the Service.
func below(base *url.URL) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("%d redirects", len(via))
		}
		if !same(base, req.URL) || !under(base.Path, req.URL.Path) {
			return fmt.Errorf("redirect to %s %w: give the final address instead of %s", name(req.URL), ErrOtherOrigin, name(base))
		}
		return nil
	}
}

// under compares cleaned paths: "/proxy/../secrets" is not under "/proxy".
func under(base, p string) bool {
	base = path.Clean("/" + base)
	p = path.Clean("/" + p)
	return base == "/" || p == base || strings.HasPrefix(p, base+"/")
}

// Pin rejects requests to an origin other than that of base.
func Pin(base *url.URL, next http.RoundTripper) http.RoundTripper {
	return &pin{base: base, next: next}
}

type pin struct {
	base *url.URL
	next http.RoundTripper
}

func (p *pin) RoundTrip(req *http.Request) (*http.Response, error) {
	if !same(p.base, req.URL) {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it, also on errors
		}
		return nil, fmt.Errorf("request to %s %w: this client is for %s", name(req.URL), ErrOtherOrigin, name(p.base))
	}
	return p.next.RoundTrip(req)
}

// WrappedRoundTripper returns the next transport, which client-go needs for streams.
func (p *pin) WrappedRoundTripper() http.RoundTripper { return p.next }

// CloseIdleConnections closes the idle connections of the next transport.
func (p *pin) CloseIdleConnections() {
	if c, ok := p.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Check rejects credentials for a plain HTTP address unless plainHTTP permits them.
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

// name is a URL without user, password and query.
func name(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

func secure(u *url.URL) bool { return scheme(u) == "https" }

// scheme maps the websocket schemes to those of HTTP.
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

// Loopback reports whether a host, with or without port, is a loopback address.
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
