package chart

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// GoModules returns the Go modules of this machine: its module cache, and the go command if it
// is installed.
func GoModules(ctx context.Context) Modules {
	var m Modules
	command, err := exec.LookPath("go")
	if err != nil {
		m.Cache = moduleCache()
		return m
	}
	if printed, err := goCommand(ctx, command, "env", "GOMODCACHE"); err == nil {
		m.Cache = strings.TrimSpace(string(printed))
	}
	m.Download = func(ctx context.Context, module string) ([]byte, error) {
		return goCommand(ctx, command, "mod", "download", "-json", module)
	}
	return m
}

// moduleCache is the default module cache of https://go.dev/ref/mod#module-cache; the go
// command may be configured otherwise.
func moduleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	if paths := filepath.SplitList(os.Getenv("GOPATH")); len(paths) > 0 {
		return filepath.Join(paths[0], "pkg", "mod")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, "go", "pkg", "mod")
	}
	return ""
}

// goCommand runs in an empty directory, so that it reads and writes no go.mod.
func goCommand(ctx context.Context, command string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "firstlight-chart-")
	if err != nil {
		return nil, fmt.Errorf("create a directory for the go command: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is empty
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GO111MODULE=on", "GOWORK=off")
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	printed, err := cmd.Output()
	if err != nil {
		return printed, fmt.Errorf("%w: %s", err, strings.TrimSpace(wrong.String()))
	}
	return printed, nil
}
