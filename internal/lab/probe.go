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

// prober makes a readiness question of a component's probe. The certificates
// are read once; each question is a connection of its own, so that none is
// left to an instance that is gone.
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
		return fmt.Errorf("probe %s: answer lacks %s", url, contains)
	}
	return nil
}

// clientTLS trusts one authority and shows one certificate.
func clientTLS(ca, cert, key string) (*tls.Config, error) {
	caPEM, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read the lab's certificates: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(caPEM) {
		return nil, fmt.Errorf("read the lab's certificates: %s holds none", ca)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the lab's certificates: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}, nil
}
