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
)

// maxAnswer bounds what is read of an answer: a hundred thousand series.
const maxAnswer = 64 << 20

// maxComplaint bounds how much of an error page gets into an error.
const maxComplaint = 300

func (c *Client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.do(ctx, http.MethodGet, path, query, nil)
}

func (c *Client) do(ctx context.Context, method, path string, query url.Values, body []byte) ([]byte, error) {
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", c.name, path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", c.name, path, withoutURL(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read answer of %s to %s: %w", c.name, path, err)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("read answer of %s to %s: more than %d MiB", c.name, path, maxAnswer>>20)
	}
	if resp.StatusCode/100 != 2 {
		return data, fmt.Errorf("ask %s for %s: %s: %s", c.name, path, resp.Status, complaint(data))
	}
	return data, nil
}

// withoutURL drops the URL that net/http puts into its errors: it is named
// already, and a URL may hold credentials.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func complaint(data []byte) string {
	text := strings.Join(strings.Fields(string(data)), " ")
	if len(text) > maxComplaint {
		text = text[:maxComplaint] + "..."
	}
	return strings.ToValidUTF8(text, "?")
}
