package safety

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) {
	if path, ok := os.LookupEnv(asWorker); ok {
		if err := work(context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(shared.Main(m))
}
