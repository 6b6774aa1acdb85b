package upstream

import (
	"slices"
	"strings"
)

// remedy suggests an action for common build errors.
func remedy(output string) string {
	has := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(output, s) })
	}
	switch {
	case has("dial tcp", "i/o timeout", "no such host", "connection refused", "TLS handshake", "403 Forbidden", "502 Bad Gateway"):
		return "The Go module proxy is unreachable: check the network and GOPROXY, then run the command again; finished downloads are kept."
	case has("no space left on device"):
		return "The disk is full: Go's build cache needs about 5 GiB (go env GOCACHE GOMODCACHE), then run the command again."
	case has("signal: killed", "cannot allocate memory"):
		return "The machine ran out of memory: linking kube-apiserver takes about 3 GiB; free some and run the command again."
	case has("checksum mismatch", "SECURITY ERROR"):
		return "A module does not match its pinned checksum: do not continue; check GOPROXY and any proxy."
	case has("requires go >=", "toolchain not available"):
		return "This Go is too old: install Go 1.26 or newer (https://go.dev/dl)."
	}
	return "Run the command again with the same pins; if it fails again, the lines above are the compiler's."
}
