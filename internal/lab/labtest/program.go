package labtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/firstlight/firstlight/internal/buildflags"
)

// program builds firstlight into a directory, once. Labs of a pool are processes of it.
func program(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, PoolBinary)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, buildflags.Flags()...), buildflags.Strip, "-buildvcs=false",
		"-o", path, "github.com/firstlight/firstlight/cmd/firstlight")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build firstlight: %w\n%s", err, out)
	}
	return path, nil
}
