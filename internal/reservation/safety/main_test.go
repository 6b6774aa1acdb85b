package safety

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/storetest"
)

var startStore func() (*storetest.Store, error)

func TestMain(m *testing.M) {
	if path, ok := os.LookupEnv(asWorker); ok {
		if err := work(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(storetest.Main(func(start func() (*storetest.Store, error)) int {
		startStore = sync.OnceValues(start)
		return m.Run()
	}))
}

// shared is the store that the tests of this package share.
func shared(t *testing.T) *storetest.Store {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the upstream programs")
	}
	s, err := startStore()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
