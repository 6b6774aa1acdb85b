package hook

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// leakless fails a test that leaves goroutines.
func leakless(t *testing.T) {
	t.Helper()
	now := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, now) })
}

const token = int64(1_800_000_000_000)

func row() config.Reservation {
	return config.Reservation{Name: "aws-h100", Slug: "ah1", Cloud: config.AWS, Accelerator: "h100", GPUCount: 8, NodeCount: 2}
}

// asked is a request that is right.
func asked(verb Verb) Request {
	r := row()
	out := Request{
		APIVersion: APIVersion, Verb: verb, Owner: "team-a", Cloud: config.AWS, Reservation: &r,
		Deployment: "fl-day-ah1-x", Lease: Lease{Token: token, Holder: "rotation"},
		Deadline: time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC), Attempt: 1,
	}
	switch verb {
	case Provision:
		out.Intent = config.Training
	case Discover:
		out.Deployment = ""
	case Test:
		out.Intent, out.Version = config.Training, "v1.2.0"
	default:
	}
	return out
}

// provisioned is the deployment that asked(Provision) requests.
func provisioned() Deployment {
	return Deployment{
		Name: "fl-day-ah1-x", Owner: "team-a", Reservation: "aws-h100", Intent: config.Training, Token: token,
		Created: time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC),
		Access:  &Access{Server: "https://10.0.0.1:443", Exec: Exec{Command: "aws", Args: []string{"eks", "get-token"}}},
	}
}

// answered is a response that is right.
func answered(verb Verb) Response {
	r := Response{APIVersion: APIVersion}
	switch verb {
	case Provision:
		d := provisioned()
		r.Deployment = &d
	case Teardown:
		r.Deleted = true
	case GetNodes:
		r.Nodes = &[]Node{{Name: "gpu-1", UID: "u1", Ready: true, GPUs: 8}}
	case Discover:
		r.Deployments = &[]Deployment{provisioned()}
	case Test:
		r.Result = &Result{Verdict: Passed, Checks: 3, Evidence: "oci://example.com/evidence@sha256:01"}
	}
	return r
}

// fakeClock passes as fast as it is asked to.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return context.Cause(ctx)
}
