package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// peerPins is the module that pins the peers which are built from source.
const peerPins = "components/peers"

// peerPackages are the programs of peerPins: kwokctl, and the kubectl that it runs.
var peerPackages = []string{"sigs.k8s.io/kwok/cmd/kwokctl", "k8s.io/kubernetes/cmd/kubectl"}

// peerFlags strip the peers, and leave them the optimizations that firstlight is built without.
var peerFlags = []string{"-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w"}

// buildPeers returns the directory of the built peers. It builds them where they are not
// built from these pins, in the user's cache directory.
func buildPeers(ctx context.Context) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(peerPins, name))
		if err != nil {
			return "", fmt.Errorf("read the peers' pins: %w", err)
		}
		_, _ = hash.Write(data) // it never fails
	}
	fmt.Fprint(hash, runtime.Version(), peerPackages, peerFlags)
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("build the peers: %w", err)
	}
	parent := filepath.Join(cache, "firstlight", "bench")
	dir := filepath.Join(parent, "peers-"+hex.EncodeToString(hash.Sum(nil))[:16])
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(parent, 0o750); err != nil {
		return "", fmt.Errorf("build the peers: %w", err)
	}
	// The directory gets its name when all programs are in it.
	scratch, err := os.MkdirTemp(parent, ".peers-")
	if err != nil {
		return "", fmt.Errorf("build the peers: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // empty, or what a failed build left
	args := append([]string{"build", "-o", filepath.Join(scratch, "bin") + string(filepath.Separator)}, peerFlags...)
	cmd := exec.CommandContext(ctx, "go", append(args, peerPackages...)...)
	cmd.Dir = peerPins
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly", "GOGC=400")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the peers: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(filepath.Join(scratch, "bin"), dir); err != nil {
		return "", fmt.Errorf("build the peers: %w", err)
	}
	return dir, nil
}
