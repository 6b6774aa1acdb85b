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

// Network configures connections to repositories. HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply.
type Network struct {
	// Timeout of each request including the response; 0: one minute.
	Timeout time.Duration
	// TLS replaces the system's certificates if set.
	TLS *tls.Config
	// MaxBytes limits the bytes read from one connection; 0: 128 MiB. The largest known index
	// has a few tens of MiB.
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

// transport returns a transport whose connections are closed when ctx ends, because Helm's
// clients take no context. The caller closes idle connections.
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
				return nil, err
			}
			c := &limitedConn{Conn: conn}
			c.left.Store(limit)
			c.stop = context.AfterFunc(ctx, func() { _ = conn.Close() }) // pending reads fail
			return c, nil
		},
		TLSClientConfig:       n.TLS.Clone(),
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: n.timeout(),
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

var errTooMuch = errors.New("response is larger than any chart or index")

// limitedConn is a connection with a byte limit that ends with a context.
type limitedConn struct {
	net.Conn

	left atomic.Int64
	stop func() bool
}

func (b *limitedConn) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		return n, errors.Join(errTooMuch, b.Conn.Close())
	}
	return n, err
}

func (b *limitedConn) Close() error {
	b.stop()
	return b.Conn.Close()
}
