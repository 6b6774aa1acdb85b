// Package storetest starts the store that reservations are kept in, for tests: the one
// that people get, etcd and kube-apiserver, as processes.
package storetest

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is one that runs.
type Store struct {
	Config *rest.Config
	Lab    *lab.Lab
	dir    string
}

// Start starts a store in a directory, where one may have run before. The upstream
// programs may have to be built first.
func Start(dir string) (*Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 75*time.Minute) //nolint:forbidigo // before any test there is no caller
	defer cancel()
	l, err := lab.New(lab.Options{
		Name: "store", Dir: dir, Purpose: component.Store,
	})
	if err != nil {
		return nil, fmt.Errorf("make a store: %w", err)
	}
	if err := l.Start(ctx); err != nil {
		return nil, fmt.Errorf("start a store: %w", err)
	}
	s := &Store{Config: l.RestConfig(), Lab: l, dir: dir}
	if err := store.Install(ctx, s.Config); err != nil {
		return nil, fmt.Errorf("start a store: %w", err)
	}
	if err := s.waitForPolicy(ctx); err != nil {
		return nil, fmt.Errorf("start a store: %w", err)
	}
	return s, nil
}

// Stop stops it. What it keeps stays.
func (s *Store) Stop() error { return s.Lab.Stop(context.Background()) } //nolint:forbidigo // after all tests there is no caller

// Kubeconfig is the path of the store's kubeconfig.
func (s *Store) Kubeconfig() string { return component.Config{Dir: s.dir}.AdminKubeconfig() }

// Main runs the tests of a package beside one store, which use calls start for.
func Main(run func(start func() (*Store, error)) int) int {
	dir, err := os.MkdirTemp("", "firstlight-store-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // when the tests are over
	var started *Store
	code := run(func() (*Store, error) {
		started, err = Start(dir)
		return started, err
	})
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
