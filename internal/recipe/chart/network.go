package chart

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// Network is how repositories are reached. HTTP_PROXY, HTTPS_PROXY and NO_PROXY
// count.
type Network struct {
	// Timeout bounds each request, answer included; 0: a minute.
	Timeout time.Duration
	// TLS, where there is one, is in place of the system's certificates.
	TLS *tls.Config
	// MaxBytes bounds what is read over one connection; 0: 128 MiB. The largest index
	// of a repository that is known to us has some tens of MiB.
	MaxBytes int64
}

const (
	defaultTimeout  = time.Minute
	dialTimeout     = 10 * time.Second
	defaultMaxBytes = 128 << 20
)

func (n Network) timeout() time.Duration {
	if n.Timeout > 0 {
		return n.Timeout
	}
	return defaultTimeout
}

// transport makes connections that end with ctx: Helm's clients know no context.
// The caller closes idle connections when it is done.
func (n Network) transport(ctx context.Context) *http.Transport {
	limit := n.MaxBytes
	if limit <= 0 {
		limit = defaultMaxBytes
	}
	dialer := &net.Dialer{Timeout: min(dialTimeout, n.timeout())}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(asked context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(asked, network, address)
			if err != nil {
				return nil, err //nolint:wrapcheck // net says what it did
			}
			c := &bound{Conn: conn}
			c.left.Store(limit)
			c.stop = context.AfterFunc(ctx, func() { _ = conn.Close() }) // whoever reads is told
			return c, nil
		},
		TLSClientConfig:       n.TLS.Clone(),
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: n.timeout(),
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

var errTooMuch = errors.New("the server sends more than a chart or an index can be")

// bound is a connection that takes only so much, and ends with a context.
type bound struct {
	net.Conn

	left atomic.Int64
	stop func() bool
}

func (b *bound) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		return n, errors.Join(errTooMuch, b.Conn.Close())
	}
	return n, err //nolint:wrapcheck // a net.Conn's errors are compared
}

func (b *bound) Close() error {
	b.stop()
	return b.Conn.Close() //nolint:wrapcheck // a net.Conn's errors are compared
}
