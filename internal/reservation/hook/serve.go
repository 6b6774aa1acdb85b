package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Exit statuses of a hook.
const (
	ExitDone      = 0
	ExitFailed    = 1
	ExitTemporary = 75 // EX_TEMPFAIL
)

// ErrTemporary means that a retry may succeed.
var ErrTemporary = errors.New("temporary failure")

// Provider is a hook in Go. Its requests are validated.
type Provider interface {
	Provision(ctx context.Context, r Request) (Deployment, error)
	Teardown(ctx context.Context, r Request) error
	GetNodes(ctx context.Context, r Request) ([]Node, error)
	Discover(ctx context.Context, r Request) ([]Deployment, error)
	Test(ctx context.Context, r Request) (Result, error)
}

// Serve runs a provider as a hook: one request from in, one response to out, and the exit status.
// The caller enforces the timeout, because the deadline of the request is on another machine's
// clock.
func Serve(ctx context.Context, in io.Reader, out io.Writer, p Provider) (status int, err error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return ExitFailed, fmt.Errorf("read the request: %w", err)
	}
	r, err := ParseRequest(data)
	response := Response{APIVersion: APIVersion}
	if err == nil {
		err = dispatch(ctx, p, r, &response)
	}
	status = ExitDone
	switch {
	case errors.Is(err, ErrTemporary) || errors.Is(err, context.DeadlineExceeded):
		status = ExitTemporary
	case err != nil:
		status = ExitFailed
	}
	if err != nil {
		response = Response{APIVersion: APIVersion, Error: err.Error()}
	}
	raw, jsonErr := json.Marshal(response)
	if jsonErr == nil {
		_, jsonErr = out.Write(append(raw, '\n'))
	}
	if jsonErr != nil {
		return ExitFailed, errors.Join(err, fmt.Errorf("write the response: %w", jsonErr))
	}
	return status, err
}

func dispatch(ctx context.Context, p Provider, r Request, to *Response) error {
	switch r.Verb {
	case Provision:
		d, err := p.Provision(ctx, r)
		to.Deployment = &d
		return err
	case Teardown:
		err := p.Teardown(ctx, r)
		to.Deleted = err == nil
		return err
	case GetNodes:
		nodes, err := p.GetNodes(ctx, r)
		if nodes == nil {
			nodes = []Node{}
		}
		to.Nodes = &nodes
		return err
	case Discover:
		all, err := p.Discover(ctx, r)
		if all == nil {
			all = []Deployment{}
		}
		to.Deployments = &all
		return err
	case Test:
		result, err := p.Test(ctx, r)
		to.Result = &result
		return err
	default:
		return fmt.Errorf("unknown verb %q", r.Verb)
	}
}
