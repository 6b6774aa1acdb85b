package prom

import (
	"context"
	"fmt"
	"net/http"
)

// Ready queries /-/ready. known is false if the endpoint does not have it, as in front of Mimir or
// Thanos. The error is for an endpoint that does not answer or answers that it is not ready.
func (c *Client) Ready(ctx context.Context) (known bool, err error) {
	resp, err := c.send(ctx, http.MethodGet, "/-/ready", nil, nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed:
		return false, nil
	case resp.StatusCode/100 != 2:
		return true, fmt.Errorf("request /-/ready of %s: %s", c.name, resp.Status)
	}
	return true, nil
}
