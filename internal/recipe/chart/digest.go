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

// digest is the SHA-256 over names and contents in the order of names. It does not
// depend on whether the chart was packed.
func digest(files []*archive.BufferedFile) string {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b *archive.BufferedFile) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range sorted {
		fmt.Fprintf(h, "%d %s %d\n", len(f.Name), f.Name, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// joinDigests is the digest of a chart with a dependency that was not in it.
func joinDigests(chart, name, dependency string) string {
	h := sha256.New()
	_, _ = io.WriteString(h, chart+" "+name+" "+dependency) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}
