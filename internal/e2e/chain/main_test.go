package chain_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
)

var program binary.Firstlight

func TestMain(m *testing.M) {
	binary.Main(m, &program, nil, func(ctx context.Context, _ string) error {
		var errs []error
		for range cap(chainLabs) {
			if r := program.Run(ctx, "lab", "down", "--name", <-chainLabs); r.Code != 0 {
				errs = append(errs, fmt.Errorf("lab down exited %d: %s%s", r.Code, r.Stdout, r.Stderr))
			}
		}
		return errors.Join(errs...)
	})
}
