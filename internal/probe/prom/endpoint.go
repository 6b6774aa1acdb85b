package prom

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
)

// Endpoint is the address of an API: a URL, or a Service behind the API server proxy. Its
// fields are those of the site file.
type Endpoint struct {
	URL             string
	Service         string
	CAFile          string
	CertFile        string
	KeyFile         string
	BearerTokenFile string
	PlainHTTP       bool
}

// Name is the address for messages, without credentials.
func (e Endpoint) Name() string {
	if e.Service != "" {
		return "service " + e.Service
	}
	return e.URL
}

// requestTimeout is the timeout of one request.
const requestTimeout = 30 * time.Second

// Client is a client of one endpoint.
type Client struct {
	base  string
	name  string
	token string
	http  *http.Client
}

// Connect creates a client without connecting. A Service endpoint requires cluster.
func Connect(e Endpoint, cluster *kube.Cluster) (*Client, error) {
	c := &Client{name: e.Name()}
	var transport http.RoundTripper
	switch {
	case e.URL != "":
		if err := origin.Check(e.URL, e.BearerTokenFile != "", e.PlainHTTP); err != nil {
			return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
		}
		own, err := e.transport()
		if err != nil {
			return nil, err
		}
		c.base, transport = strings.TrimRight(e.URL, "/"), own
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
	var err error
	if c.http, err = origin.Client(c.base, transport, requestTimeout); err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e.Name(), err)
	}
	if e.BearerTokenFile != "" {
		token, err := os.ReadFile(e.BearerTokenFile)
		if err != nil {
			return nil, fmt.Errorf("read bearer token for %s: %w", e.Name(), err)
		}
		c.token = strings.TrimSpace(string(token))
	}
	return c, nil
}

func (e Endpoint) transport() (http.RoundTripper, error) {
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
