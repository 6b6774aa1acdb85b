package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Fence checks the token of a lease. broker.Broker implements it.
type Fence interface {
	Check(ctx context.Context, reservation string, token int64) error
}

// Runner runs one attempt. Its error means that the hook did not run to its end: a timeout, or a
// missing program; with Output.Ended, that it did, but its child processes may still run.
type Runner interface {
	Run(ctx context.Context, r Request, body []byte) (Output, error)
}

// Output of an attempt.
type Output struct {
	// Ended is set if Status and Response are known although the attempt failed.
	Ended    bool
	Status   int
	Response []byte
	// Log has the last log lines, without the values of secrets.
	Log []string
}

// Clock is the time source of a client.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or with the cause of ctx's end.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options of a Client.
type Options struct {
	Config *Config
	// Fence is called before each attempt that has a token.
	Fence Fence
	// Runner returns the runner of a hook; see Runners.
	Runner func(Hook) (Runner, error)
	// Clock defaults to the system clock.
	Clock Clock
	// Jitter varies a backoff, so that hooks that failed together are not retried together. The
	// default adds up to half of it.
	Jitter func(time.Duration) time.Duration
	// Log defaults to none.
	Log *slog.Logger
}

// Client calls hooks. Its methods are safe for concurrent use.
type Client struct{ opts Options }

// New returns a client.
func New(opts Options) *Client {
	opts.Clock = cmp.Or[Clock](opts.Clock, machineClock{})
	if opts.Jitter == nil {
		opts.Jitter = addJitter
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	return &Client{opts: opts}
}

// addJitter adds up to half of d.
func addJitter(d time.Duration) time.Duration {
	return d + rand.N(d/2+1) //nolint:gosec // spreads retries
}

// Owner is the owner label of all deployments.
func (c *Client) Owner() string { return c.opts.Config.Owner }

// Clouds are those with a hook, sorted.
func (c *Client) Clouds() []config.Cloud { return slices.Sorted(maps.Keys(c.opts.Config.Hooks)) }

// Provision creates a deployment under a lease and waits for it. It is idempotent for one name and
// token.
func (c *Client) Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l Lease) (Deployment, error) {
	resp, err := c.call(ctx, Request{Verb: Provision, Cloud: row.Cloud, Reservation: &row, Intent: intent, Deployment: name, Lease: l}, nil)
	if err != nil {
		return Deployment{}, err
	}
	return *resp.Deployment, nil
}

// errStillDiscovered contradicts a successful teardown.
var errStillDiscovered = errors.New("the hook reported the deployment as deleted, but discover still lists it")

// Teardown deletes a deployment under a lease and returns when discover no longer lists it; the
// response of the hook is not sufficient.
func (c *Client) Teardown(ctx context.Context, row config.Reservation, name string, l Lease) error {
	_, err := c.call(ctx, Request{Verb: Teardown, Cloud: row.Cloud, Reservation: &row, Deployment: name, Lease: l},
		func(ctx context.Context) error {
			all, err := c.Discover(ctx, row.Cloud, &row, l)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(all, func(d Deployment) bool { return d.Name == name }) {
				return errStillDiscovered
			}
			return nil
		})
	return err
}

// GetNodes returns the nodes of a deployment. The lease may be zero.
func (c *Client) GetNodes(ctx context.Context, row config.Reservation, name string, l Lease) (Nodes, error) {
	resp, err := c.call(ctx, Request{Verb: GetNodes, Cloud: row.Cloud, Reservation: &row, Deployment: name, Lease: l}, nil)
	if err != nil {
		return nil, err
	}
	return *resp.Nodes, nil
}

// Discover lists the deployments of a reservation, or, if row is nil, all labelled deployments of
// a cloud, of any owner. The lease may be zero.
func (c *Client) Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l Lease) ([]Deployment, error) {
	resp, err := c.call(ctx, Request{Verb: Discover, Cloud: cloud, Reservation: row, Lease: l}, nil)
	if err != nil {
		return nil, err
	}
	return *resp.Deployments, nil
}

// Test runs the tests of a version for an intent on a deployment, under a lease. A failed test is
// a result. With an error, the result is the one that the test gave nevertheless; zero: none.
func (c *Client) Test(ctx context.Context, row config.Reservation, version string, intent config.Intent, deployment string, l Lease) (Result, error) {
	resp, err := c.call(ctx, Request{
		Verb: Test, Cloud: row.Cloud, Reservation: &row, Version: version, Intent: intent, Deployment: deployment, Lease: l,
	}, nil)
	if failed := FailureOf(err); failed != nil && failed.Last.Response != nil {
		resp = *failed.Last.Response
	}
	if resp.Result == nil {
		return Result{}, err
	}
	return *resp.Result, err
}

// ErrNoHook means that the hooks file has no hook of the cloud.
var ErrNoHook = errors.New("no hook for the cloud")

func (c *Client) hook(cloud config.Cloud) (Hook, Runner, error) {
	h, ok := c.opts.Config.Hooks[cloud]
	if !ok {
		return Hook{}, nil, fmt.Errorf("%s: %w: add one to the hooks file", cloud, ErrNoHook)
	}
	r, err := c.opts.Runner(h)
	return h, r, err
}

// MachineClock returns the system clock.
func MachineClock() Clock { return machineClock{} }

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	return poll.Sleep(ctx, d)
}
