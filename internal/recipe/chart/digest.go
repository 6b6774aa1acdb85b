package chart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
)

// digest is the SHA-256 over names and contents, sorted by name. It is the same for a packed
// and an unpacked chart.
func digest(files []*archive.BufferedFile) string {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range sorted {
		fmt.Fprintf(h, "%d %s %d\n", len(f.Name), f.Name, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// joinDigests is the digest of a chart with a fetched dependency.
func joinDigests(chart, name, dependency string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, chart+" "+name+" "+dependency) // hash.Hash never returns an error
	return hex.EncodeToString(h.Sum(nil))
}
