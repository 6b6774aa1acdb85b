package binary

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package with a binary and its own home, and exits. begin
// gets an empty directory; end runs after the tests, also if begin failed. Both may be nil.
func Main(m *testing.M, program *Firstlight, begin func(ctx context.Context, dir string) error, end func(ctx context.Context, dir string) error) {
	flag.Parse()
	if testing.Short() {
		fmt.Fprintln(os.Stderr, "e2e: not run with -short")
		os.Exit(0)
	}
	code, err := run(m, program, begin, end)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M, program *Firstlight, begin, end func(ctx context.Context, dir string) error) (code int, err error) {
	ctx := context.Background() //nolint:forbidigo // tests have no caller
	dir, err := os.MkdirTemp("", "firstlight-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() {
		if end != nil {
			err = errors.Join(err, end(ctx, dir))
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if *program, err = Build(ctx, dir); err != nil {
		return 1, err
	}
	if begin != nil {
		if err := begin(ctx, dir); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}
