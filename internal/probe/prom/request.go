package prom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// maxResponse is the longest response: about a hundred thousand series.
const maxResponse = 64 << 20

// maxErrorText is the longest excerpt of an error page in an error.
const maxErrorText = 300

func (c *Client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.do(ctx, http.MethodGet, path, query, nil)
}

func (c *Client) do(ctx context.Context, method, path string, query url.Values, body []byte) ([]byte, error) {
	resp, err := c.send(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return nil, fmt.Errorf("read response to %s of %s: %w", path, c.name, err)
	}
	if len(data) > maxResponse {
		return nil, fmt.Errorf("read response to %s of %s: more than %d MiB", path, c.name, maxResponse>>20)
	}
	if resp.StatusCode/100 != 2 {
		err := fmt.Errorf("request %s of %s: %s: %s", path, c.name, resp.Status, errorText(data))
		if notServed(resp.StatusCode, data) {
			err = notServedError{err}
		}
		return data, err
	}
	return data, nil
}

// ErrNotServed is in the error of a request if the endpoint does not have the path: Thanos Querier, Mimir, managed
// services and VictoriaMetrics have Prometheus' query API without the rest of its API.
var ErrNotServed = errors.New("path is not served")

type notServedError struct{ error }

func (notServedError) Is(target error) bool { return target == ErrNotServed }

// notServed recognises the answer to an unknown path. VictoriaMetrics answers 400. A Status is of the API server, which
// did not find the Service.
func notServed(status int, body []byte) bool {
	var object struct{ Kind string }
	if guard.JSON(body, &object) == nil && object.Kind == "Status" {
		return false
	}
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed ||
		status == http.StatusBadRequest && bytes.Contains(body, []byte("unsupported path requested"))
}

// send sends a request. The caller closes the body of the response.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body []byte) (*http.Response, error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("request %s of %s: %w", path, c.name, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("request %s of %s: %w", path, c.name, withoutURL(err))
	}
	return resp, nil
}

// withoutURL removes the URL from errors of net/http: it can contain credentials, and the error
// already names the endpoint.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func errorText(data []byte) string {
	text := strings.Join(strings.Fields(string(data)), " ")
	if len(text) > maxErrorText {
		text = text[:maxErrorText] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}
