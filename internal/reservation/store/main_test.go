package store_test

import (
	"os"
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

// shared is the store that the tests of this package share.
var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
