package prom

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/site"
)

// Endpoint is the address of an API and how requests to it authenticate.
type Endpoint = site.Endpoint

// requestTimeout is the timeout of one request.
const requestTimeout = 30 * time.Second

// Client is a client of one endpoint.
type Client struct {
	base string
	name string
	http *http.Client
	// delayed: the answers are those of VictoriaMetrics, which delays new samples unless a query says otherwise.
	delayed atomic.Bool
}

// Connect creates a client without connecting. A Service endpoint requires cluster. It reads
// credentials from their files and adds them to requests to this endpoint only.
func Connect(e Endpoint, cluster *kube.Cluster) (*Client, error) {
	c := &Client{name: e.Name()}
	var transport http.RoundTripper
	switch {
	case e.URL != "":
		if err := origin.Check(e.URL, e.Secret(), e.PlainHTTP); err != nil {
			return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
		}
		own, err := transportOf(e)
		if err != nil {
			return nil, err
		}
		c.base, transport = strings.TrimRight(e.URL, "/"), own
	case e.Service != "" && e.Secret():
		return nil, fmt.Errorf("connect to %s: credentials of the service would be sent to the API server: use a url", e.Name())
	case e.Service != "" && cluster != nil:
		service, err := cluster.Proxy(e.Service)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
		}
		c.base, transport = service.BaseURL, service.Transport
	case e.Service != "":
		return nil, fmt.Errorf("connect to %s: no cluster given", e.Name())
	default:
		return nil, errors.New("address is missing: set url or service in the site file")
	}
	adds, err := authorizers(e)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
	}
	if len(adds) > 0 {
		transport = &authorized{next: transport, adds: adds}
	}
	if c.http, err = origin.Client(c.base, transport, requestTimeout); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
	}
	return c, nil
}

func transportOf(e Endpoint) (http.RoundTripper, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.CAFile != "" {
		pem, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read CA for %s: %w", e.Name(), err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read CA for %s: %s contains no certificate", e.Name(), e.CAFile)
		}
	}
	if e.CertFile != "" || e.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(e.CertFile, e.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read client certificate for %s: %w", e.Name(), err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: conf, ForceAttemptHTTP2: true}, nil
}

// Name is the name of the endpoint.
func (c *Client) Name() string { return c.name }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
