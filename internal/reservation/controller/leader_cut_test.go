package controller

import (
	"errors"
	nethttp "net/http"
)

type http = nethttp.RoundTripper

// cut is a wire that is cut when away is closed.
type cut struct {
	http
	away <-chan struct{}
}

func (c cut) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	select {
	case <-c.away:
		return nil, errors.New("the wire is cut")
	default:
		return c.http.RoundTrip(r)
	}
}
