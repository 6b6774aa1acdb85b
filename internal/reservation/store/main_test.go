package store_test

import (
	"flag"
	"os"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/storetest"
)

var startStore func() (*storetest.Store, error)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(storetest.Main(func(start func() (*storetest.Store, error)) int {
		startStore = sync.OnceValues(start)
		return m.Run()
	}))
}

// kube reaches the store that the tests of this package share.
func kube(t *testing.T) *store.Kube {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the upstream programs")
	}
	s, err := startStore()
	if err != nil {
		t.Fatal(err)
	}
	k, err := store.NewKube(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
