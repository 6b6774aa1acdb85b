package broker

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Open returns the broker of a short-lived command: each read goes to the API server. While it
// waits, it watches the reservations that it waits for.
func Open(config *rest.Config, opts Options) (*Broker, *store.Kube, error) {
	k, err := store.NewKube(config)
	if err != nil {
		return nil, nil, err
	}
	opts.Store = k
	return New(opts), k, nil
}

// OpenCached returns the broker of a long-running process: it reads from a watched copy of all
// reservations until ctx ends; ended is closed then.
func OpenCached(ctx context.Context, config *rest.Config, opts Options) (b *Broker, c *store.Cached, ended <-chan struct{}, err error) {
	k, err := store.NewKube(config)
	if err != nil {
		return nil, nil, nil, err
	}
	c = store.NewCached(k)
	ended, err = c.Run(ctx)
	if err != nil {
		return nil, nil, ended, fmt.Errorf("cache the reservations: %w", err)
	}
	opts.Store = c
	return New(opts), c, ended, nil
}
