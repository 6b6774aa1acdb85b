package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
)

// 220 KB of an archive kept 200 MB of memory: each refused entry's name was kept in its
// problem, a MiB each.
func TestProblemsOfAnArchiveAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 1<<19)
	for name, entry := range map[string]func(i int) *tar.Header{
		"long names": func(i int) *tar.Header {
			return &tar.Header{Name: fmt.Sprint("run/../", i, long), Typeflag: tar.TypeReg}
		},
		"long names that are taken": func(i int) *tar.Header {
			return &tar.Header{Name: fmt.Sprint("run/", strings.Repeat("n/", 1000), i), Typeflag: tar.TypeReg}
		},
		"links": func(i int) *tar.Header {
			return &tar.Header{Name: fmt.Sprint("run/", i), Typeflag: tar.TypeSymlink, Linkname: "x"}
		},
		"no run": func(i int) *tar.Header { return &tar.Header{Name: fmt.Sprint("f", i), Typeflag: tar.TypeReg} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var data bytes.Buffer
			zipped := gzip.NewWriter(&data)
			w := tar.NewWriter(zipped)
			for i := range 120 {
				if err := w.WriteHeader(entry(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := zipped.Close(); err != nil {
				t.Fatal(err)
			}
			u, err := Unpack(t.Context(), &data, t.TempDir(), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for _, p := range u.Problems {
				total += len(p)
			}
			if len(u.Problems) == 0 || len(u.Problems) > maxProblems+1 || total > 1<<16 {
				t.Errorf("%d problems of %d bytes", len(u.Problems), total)
			}
			if u.Files != 0 {
				t.Errorf("%d files came out", u.Files)
			}
		})
	}
}

// The files that verify reads at once fit into memory.
func TestLimitsOfAFile(t *testing.T) {
	t.Parallel()
	if l := (Limits{}).withDefaults(); l.File > 256<<20 || l.Total > 4<<30 {
		t.Errorf("%+v", l)
	}
}
