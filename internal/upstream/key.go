package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
)

// key names what a program is built from: pins, flags and toolchain.
func key(g group, flags []string, toolchain string) string {
	h := sha256.New()
	for _, part := range [][]byte{g.mod, g.sum, []byte(strings.Join(flags, "\x00")), []byte(toolchain)} {
		fmt.Fprintf(h, "%d:", len(part)) // no two lists of parts read the same
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// toolchain names the Go version and the platform it builds for.
func (b Builder) toolchain(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, b.Go, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", b.Go, err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}
