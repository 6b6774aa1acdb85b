package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// prober returns a readiness check for a probe. It reads the certificates once and opens a new
// connection for each check, so that no connection to a previous process is reused.
func prober(p component.Probe) (func(ctx context.Context) error, error) {
	tlsConfig, err := clientTLS(p.CA, p.Cert, p.Key)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		return get(ctx, client, p.URL, p.Contains)
	}, nil
}

func get(ctx context.Context, client *http.Client, url, contains string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("probe %s: %w", url, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("probe %s: %w", url, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("probe %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("probe %s: %s", url, resp.Status)
	}
	if !strings.Contains(string(body), contains) {
		return fmt.Errorf("probe %s: response lacks %s", url, contains)
	}
	return nil
}

// clientTLS returns a client configuration with one CA and one client certificate.
func clientTLS(ca, cert, key string) (*tls.Config, error) {
	caPEM, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read the lab's certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(caPEM) {
		return nil, fmt.Errorf("read the lab's certificates: no certificate in %s", ca)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the lab's certificates: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
