package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Fence says whether the token of a lease is still good. A broker.Broker is one.
type Fence interface {
	Check(ctx context.Context, reservation string, token int64) error
}

// Runner makes one attempt. Its error is of something that kept the hook from being
// run to its end: a limit, a program that is not there.
type Runner interface {
	Run(ctx context.Context, r Request, body []byte) (Output, error)
}

// Output is what came of an attempt.
type Output struct {
	Status   int
	Response []byte
	// Log are the last lines of what it logged, without the values of secrets.
	Log []string
}

// Clock is time of day, and how it passes.
type Clock interface {
	Now() time.Time
	// Sleep returns when d has passed, or with the cause of ctx's end.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options of a Client.
type Options struct {
	Config *Config
	// Fence is asked before each attempt that has a token.
	Fence Fence
	// Runner makes the runner of a hook; see Runners.
	Runner func(Hook) (Runner, error)
	// Clock is nil for the machine's.
	Clock Clock
	// Jitter takes a pause and answers one that is a little different, so that many
	// that failed together don't try together; nil: as it is.
	Jitter func(time.Duration) time.Duration
	// Log is nil for none.
	Log *slog.Logger
}

// Client calls hooks. Its methods may be called from many goroutines.
type Client struct{ opts Options }

// New makes a client.
func New(opts Options) *Client {
	if opts.Clock == nil {
		opts.Clock = machineClock{}
	}
	if opts.Jitter == nil {
		opts.Jitter = func(d time.Duration) time.Duration { return d }
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{opts: opts}
}

// Owner labels what the hooks make.
func (c *Client) Owner() string { return c.opts.Config.Owner }

// Provision stands a deployment up, in the name of a lease, and returns it when it
// stands. The same name under the same token is the same deployment.
func (c *Client) Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l Lease) (Deployment, error) {
	resp, err := c.call(ctx, Request{Verb: Provision, Cloud: row.Cloud, Reservation: &row, Intent: intent, Deployment: name, Lease: l}, nil)
	if err != nil {
		return Deployment{}, err
	}
	return *resp.Deployment, nil
}

// errLeft says that what was torn down is found all the same.
var errStillDiscovered = errors.New("it says that it is gone, and discover finds it")

// Teardown removes a deployment in the name of a lease, and returns when discover does
// not find it any more: what the hook says of itself is not enough.
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

// Census looks at the nodes of a deployment. The lease may be zero.
func (c *Client) GetNodes(ctx context.Context, row config.Reservation, name string, l Lease) (Nodes, error) {
	resp, err := c.call(ctx, Request{Verb: GetNodes, Cloud: row.Cloud, Reservation: &row, Deployment: name, Lease: l}, nil)
	if err != nil {
		return nil, err
	}
	return *resp.Nodes, nil
}

// Discover lists the deployments of a reservation, or, where row is nil, all those of a
// cloud that carry labels of this kind, whoever owns them. The lease may be zero.
func (c *Client) Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l Lease) ([]Deployment, error) {
	resp, err := c.call(ctx, Request{Verb: Discover, Cloud: cloud, Reservation: row, Lease: l}, nil)
	if err != nil {
		return nil, err
	}
	return *resp.Deployments, nil
}

// Test runs what a version has to show for an intent, on a deployment and in the name of a
// lease. A test that fails is a result; the error says that there is none.
func (c *Client) Test(ctx context.Context, row config.Reservation, version string, intent config.Intent, deployment string, l Lease) (Result, error) {
	resp, err := c.call(ctx, Request{
		Verb: Test, Cloud: row.Cloud, Reservation: &row, Version: version, Intent: intent, Deployment: deployment, Lease: l,
	}, nil)
	if err != nil {
		return Result{}, err
	}
	return *resp.Result, nil
}

// ErrNoHook says that nothing does a cloud's part.
var ErrNoHook = errors.New("the cloud has no hook")

func (c *Client) hook(cloud config.Cloud) (Hook, Runner, error) {
	h, ok := c.opts.Config.Hooks[cloud]
	if !ok {
		return Hook{}, nil, fmt.Errorf("%s: %w: add one to the hooks file", cloud, ErrNoHook)
	}
	r, err := c.opts.Runner(h)
	return h, r, err
}

// MachineClock is the machine's.
func MachineClock() Clock { return machineClock{} }

type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
