package runner

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/suite"
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if shared.lab != nil {
		if err := shared.lab.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// shared is the control plane of all tests of the package.
var shared struct {
	lab *lab.Lab
	dir string
}

var started = sync.OnceValues(func() (*rest.Config, error) {
	dir, err := os.MkdirTemp("", "arena")
	if err != nil {
		return nil, err
	}
	l, err := lab.New(lab.Options{
		Name: "arena", Dir: dir, Purpose: component.Scheduling, Profiling: *profiles != "",
	})
	if err != nil {
		return nil, err
	}
	shared.lab, shared.dir = l, dir
	if err := l.Start(context.Background()); err != nil {
		return nil, err
	}
	return l.RestConfig(), nil
})

// plane is the control plane, started at the first call.
func plane(tb testing.TB) *rest.Config {
	tb.Helper()
	suite.Live(tb)
	config, err := started()
	if err != nil {
		tb.Fatal(err)
	}
	return config
}
