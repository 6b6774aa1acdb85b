package redfish

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/common"

	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/site"
)

// timeout is the timeout of one request.
const timeout = 30 * time.Second

func connect(ctx context.Context, r site.Redfish, httpClient *http.Client) (*gofish.APIClient, error) {
	config := gofish.ClientConfig{
		Endpoint: strings.TrimSuffix(r.URL, "/"), Username: r.User, BasicAuth: true, ReuseConnections: true, HTTPClient: httpClient,
	}
	if r.PasswordFile != "" {
		password, err := os.ReadFile(r.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read the password file: %w", err)
		}
		config.Password = strings.TrimSpace(string(password))
	}
	return gofish.ConnectContext(ctx, config)
}

func transport(r site.Redfish) (*http.Client, error) {
	if err := origin.Check(r.URL, r.User != "" || r.PasswordFile != "", r.PlainHTTP); err != nil {
		return nil, err
	}
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if r.CAFile != "" {
		pem, err := os.ReadFile(r.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the CA file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, errors.New("the CA file holds no certificate")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return origin.Client(r.URL, limited{t}, timeout)
}

// Limits of what a controller returns. A resource has some kilobytes, and a page of a collection up to 1,000 members.
const (
	maxBody  = 8 << 20
	maxPages = 100
)

// limited ends responses that are too long: gofish reads them whole.
type limited struct{ *http.Transport }

func (l limited) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{resp.Body, maxBody}
	return resp, nil
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the response exceeds %d MiB", maxBody>>20)
	}
	return n, err
}

// get decodes a resource into a struct of the fields that are read. The types of gofish have all fields of a resource: one
// of another type than in its version of the schema, such as a list in place of an object, made a chassis unreadable.
func get(client *gofish.APIClient, uri string, resource any) error {
	response, err := client.Get(uri)
	if err != nil {
		return fmt.Errorf("get %s: %w", uri, err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(resource); err != nil {
		return fmt.Errorf("decode %s: %w", uri, err)
	}
	return nil
}

// members are the URIs of the members of a collection; none without a link.
func members(client *gofish.APIClient, collection common.Link) ([]string, error) {
	var out []string
	pages := 0
	for uri := collection.String(); uri != ""; {
		if pages++; pages > maxPages {
			return nil, fmt.Errorf("get %s: the collection has more than %d pages", collection, maxPages)
		}
		page, err := common.GetCollection(client, uri)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", uri, err)
		}
		out, uri = append(out, page.ItemLinks...), page.MembersNextLink
	}
	return out, nil
}
