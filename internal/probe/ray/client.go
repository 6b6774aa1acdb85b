package ray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

const (
	// Port is the head's port of the dashboard.
	Port = 8265
	// maxReply in bytes.
	maxReply = 32 << 20
	// requestTimeout: the state API gives its sources 30 s (state_api_utils.py).
	requestTimeout = 45 * time.Second
	// maxError is how much of a text of an error is shown, in bytes.
	maxError = 400
)

// ErrNotFound is the error of a job that the head does not have.
var ErrNotFound = errors.New("not found")

// Client sends requests to a head.
type Client struct {
	// Address is host:port of the head.
	Address string
	HTTP    *http.Client
}

// NewHTTPClient returns a client for a forwarded port of a head: jobs can change what the head answers, and it must not
// redirect this host to other addresses.
func NewHTTPClient() *http.Client { return origin.Forwarded(&http.Transport{DisableKeepAlives: true}) }

// Do sends a request and returns the body of the reply. A status other than 2xx is an error with its text.
func (c *Client) Do(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s of the Ray head: %w", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s of the Ray head: %w", method, path, err)
	case len(raw) > maxReply:
		return nil, fmt.Errorf("%s %s of the Ray head: the reply is longer than %d bytes", method, path, maxReply)
	case resp.StatusCode == http.StatusNotFound:
		return raw, fmt.Errorf("%s %s of the Ray head: %w: %s", method, path, ErrNotFound, short(raw))
	case resp.StatusCode/100 != 2:
		return raw, fmt.Errorf("%s %s of the Ray head: HTTP %d: %s", method, path, resp.StatusCode, short(raw))
	}
	return raw, nil
}

// short is the end of a text: of a Python traceback it has the error.
func short(raw []byte) string {
	text := strings.TrimSpace(string(raw))
	return text[max(0, len(text)-maxError):]
}
