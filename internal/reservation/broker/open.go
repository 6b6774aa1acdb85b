package broker

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Open makes the broker of a command that makes a step and ends: each read asks the API
// server. Where it has to wait it follows a copy of what it waits for.
func Open(config *rest.Config, opts Options) (*Broker, *store.Kube, error) {
	k, err := store.NewKube(config)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // says what it was doing
	}
	opts.Store = k
	return New(opts), k, nil
}

// OpenCached makes the broker of a process that looks again and again, at all
// reservations: it reads a copy that a watch keeps new until ctx ends; ended is closed then.
func OpenCached(ctx context.Context, config *rest.Config, opts Options) (b *Broker, c *store.Cached, ended <-chan struct{}, err error) {
	k, err := store.NewKube(config)
	if err != nil {
		return nil, nil, nil, err //nolint:wrapcheck // says what it was doing
	}
	c = store.NewCached(k)
	ended, err = c.Run(ctx)
	if err != nil {
		return nil, nil, ended, fmt.Errorf("copy the reservations: %w", err)
	}
	opts.Store = c
	return New(opts), c, ended, nil
}
