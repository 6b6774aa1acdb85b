package prom

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/firstlight/firstlight/internal/site"
)

// authorizer adds credentials or headers to a request.
type authorizer func(*http.Request) error

// authorized is a transport that adds credentials to a copy of each request. It is inside the
// transport that rejects other origins: net/http does not see the credentials, so it cannot copy
// them to the target of a redirect.
type authorized struct {
	next http.RoundTripper
	adds []authorizer
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for _, add := range a.adds {
		if err := add(req); err != nil {
			if req.Body != nil {
				_ = req.Body.Close() // a RoundTripper closes it, also on errors
			}
			return nil, err
		}
	}
	return a.next.RoundTrip(req)
}

// CloseIdleConnections closes the idle connections of the next transport.
func (a *authorized) CloseIdleConnections() {
	if c, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// authorizers are those of an endpoint. The signature is the last: it covers the other headers.
func authorizers(e Endpoint) ([]authorizer, error) {
	var out []authorizer
	for name, h := range e.Headers {
		value, err := valueOf(h)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		out = append(out, setHeader(name, value))
	}
	switch {
	case e.BearerTokenFile != "":
		token, err := secret(e.BearerTokenFile)
		if err != nil {
			return nil, fmt.Errorf("bearer token: %w", err)
		}
		out = append(out, setHeader("Authorization", "Bearer "+token))
	case e.BasicAuth != nil:
		password, err := secret(e.BasicAuth.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("password of user %s: %w", e.BasicAuth.User, err)
		}
		out = append(out, func(req *http.Request) error {
			req.SetBasicAuth(e.BasicAuth.User, password)
			return nil
		})
	case e.SigV4 != nil:
		sign, err := newSigner(*e.SigV4)
		if err != nil {
			return nil, fmt.Errorf("AWS Signature Version 4: %w", err)
		}
		out = append(out, sign.sign)
	}
	return out, nil
}

func setHeader(name, value string) authorizer {
	return func(req *http.Request) error {
		req.Header.Set(name, value)
		return nil
	}
}

func valueOf(h site.Header) (string, error) {
	if h.ValueFile == "" {
		return h.Value, nil
	}
	return secret(h.ValueFile)
}

// secret reads one line from a file. Its errors do not contain what the file has.
func secret(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	switch {
	case text == "":
		return "", fmt.Errorf("read %s: the file is empty", path)
	case !httpguts.ValidHeaderFieldValue(text):
		return "", errors.New("read " + path + ": must be one line of text")
	}
	return text, nil
}
