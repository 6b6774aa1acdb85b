package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
)

// cloud is a cloud in memory.
type cloud struct {
	mu     sync.Mutex
	stands []hook.Deployment
	peak   int      // the most deployments at once
	calls  []string // verb and name
	// before, if set, runs before each call; with an error, the call has no effect.
	before func(ctx context.Context, v hook.Verb, name string, l hook.Lease) error
	// broken fails so many calls of a verb; a failed provision leaves a partial deployment.
	broken map[hook.Verb]int
	lies   bool // a deleted deployment still exists
	// tests answer by version and intent; without one it passes.
	tests map[string]func(ctx context.Context) (hook.Result, error)
	ready error // of a rotation's readiness check
}

func newCloud() *cloud {
	return &cloud{broken: map[hook.Verb]int{}, tests: map[string]func(context.Context) (hook.Result, error){}}
}

func (c *cloud) Owner() string { return "team-x" }

// call records a call. It runs before, and then effect, with the lock held.
func (c *cloud) call(ctx context.Context, v hook.Verb, name string, l hook.Lease, effect func(failed bool)) error {
	c.mu.Lock()
	c.calls = append(c.calls, fmt.Sprintf("%s %s", v, name))
	before := c.before
	c.mu.Unlock()
	if before != nil {
		if err := before(ctx, v, name, l); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	failed := c.broken[v] > 0
	effect(failed)
	if failed {
		c.broken[v]--
		return &hook.FailedError{Verb: v, Of: name, Attempts: 1, Err: errors.New("no permission")}
	}
	return nil
}

// Discover implements Hooks.
func (c *cloud) Discover(ctx context.Context, _ config.Cloud, row *config.Reservation, l hook.Lease) (out []hook.Deployment, err error) {
	err = c.call(ctx, hook.Discover, row.Name, l, func(bool) {
		for _, d := range c.stands {
			if d.Reservation == row.Name {
				out = append(out, d)
			}
		}
	})
	return out, err
}

// Provision implements Hooks.
func (c *cloud) Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error) {
	d := hook.Deployment{Name: name, Owner: c.Owner(), Reservation: row.Name, Intent: intent, Token: l.Token}
	err := c.call(ctx, hook.Provision, name, l, func(bool) {
		c.stands = append(c.stands, d)
		c.peak = max(c.peak, len(c.stands))
	})
	return d, err
}

// Test implements Hooks.
func (c *cloud) Test(ctx context.Context, _ config.Reservation, version string, intent config.Intent, _ string, _ hook.Lease) (hook.Result, error) {
	c.mu.Lock()
	test := c.tests[version+"/"+string(intent)]
	c.mu.Unlock()
	if test != nil {
		return test(ctx)
	}
	return hook.Result{Verdict: hook.Passed, Checks: 3, Evidence: "there"}, nil
}

// Teardown implements Hooks.
func (c *cloud) Teardown(ctx context.Context, _ config.Reservation, name string, l hook.Lease) error {
	return c.call(ctx, hook.Teardown, name, l, func(failed bool) {
		if !failed && !c.lies {
			c.stands = slices.DeleteFunc(c.stands, func(d hook.Deployment) bool { return d.Name == name })
		}
	})
}

// called counts the calls of a verb.
func (c *cloud) called(v hook.Verb) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, call := range c.calls {
		if strings.HasPrefix(call, string(v)+" ") {
			n++
		}
	}
	return n
}
