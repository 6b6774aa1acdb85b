package storetest

import (
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/suite"
)

// Shared is a store that the tests of a package share:
//
//	var shared storetest.Shared
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
type Shared struct{ start func() (*Store, error) }

// Main runs the tests of a package and returns the exit code.
func (s *Shared) Main(m *testing.M) int {
	return Main(func(start func() (*Store, error)) int {
		s.start = sync.OnceValues(start)
		return m.Run()
	})
}

// Store starts the store for the first test that calls it. With -short, it skips the test.
func (s *Shared) Store(tb testing.TB) *Store {
	tb.Helper()
	suite.Live(tb)
	st, err := s.start()
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// Kube returns a client of the store.
func (s *Shared) Kube(tb testing.TB) *store.Kube {
	tb.Helper()
	k, err := store.NewKube(s.Store(tb).Config)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}
