// Package storetest starts a real reservation store for tests: etcd and kube-apiserver.
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

// Store is a running store.
type Store struct {
	Config *rest.Config
	Lab    *lab.Lab
	dir    string
}

// Start starts a store in a directory that may have data of an earlier one. It may have to build
// the upstream programs.
func Start(dir string) (*Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 75*time.Minute) //nolint:forbidigo // before any test there is no caller
	defer cancel()
	l, err := lab.New(lab.Options{
		Name: "store", Dir: dir, Purpose: component.Store,
	})
	if err != nil {
		return nil, fmt.Errorf("create a store: %w", err)
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

// Stop stops the store and keeps its data.
func (s *Store) Stop() error { return s.Lab.Stop(context.Background()) } //nolint:forbidigo // after all tests there is no caller

// Kubeconfig returns the path of the kubeconfig.
func (s *Store) Kubeconfig() string { return component.Config{Dir: s.dir}.AdminKubeconfig() }

// Main runs the tests of a package with one store, which starts when they call start.
func Main(run func(start func() (*Store, error)) int) int {
	dir, err := os.MkdirTemp("", "firstlight-store-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // after the tests
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
