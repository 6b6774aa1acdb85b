package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// key hashes pins and flags of a group. Builder.dir adds the Go version.
func (g group) key() (string, error) {
	flags, err := g.flags(g.all)
	if err != nil {
		return "", err
	}
	return short(string(g.mod), string(g.sum), strings.Join(flags, "\x00")), nil
}

// short is an unambiguous hash of a list of texts.
func short(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// goEnv is the environment of go commands, without the user's build settings, for this machine.
func goEnv() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GO111MODULE=on", "GOFLAGS=-mod=readonly",
		"GOEXPERIMENT=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
}

// toolchain returns the Go version and target platform.
func toolchain(ctx context.Context, goCommand string) (string, error) {
	cmd := exec.CommandContext(ctx, goCommand, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64")
	cmd.Dir, cmd.Env = "/", append(goEnv(), "PWD=/") // a go.mod of the user could select another toolchain
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("get version of %s: %w", goCommand, err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}
