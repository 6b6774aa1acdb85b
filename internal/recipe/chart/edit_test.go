package chart

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// For any footprint, edit terminates: it refuses the file, or writes exactly one lock, and a
// second edit changes nothing. edited verifies that the rest of the file is unchanged.
func FuzzEdit(f *testing.F) {
	for _, file := range []string{"testdata/tree/footprints/shop.yaml", "testdata/shop.golden.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
		f.Add(bytes.TrimRight(data, "\n"))
	}
	const head = "apiVersion: firstlight/v1\nkind: Footprint\nmetadata: {name: a}\nspec:\n"
	f.Add([]byte(head + "  source: 'documented'\n  workloads: []\n  chart:\n    name: é\n    repository: r\n    version: \"1\" # x\n"))
	f.Add([]byte(head + "  chart: {repository: r, name: n,\n    version: v1}\n  renders:\n  - {values: a, workloads: []}\n  # kept\n  source: documented\n  workloads: []"))
	f.Add([]byte(head + "  chart: &c {repository: r, name: n, version: &v v1}\n  source: documented\n  workloads: []\n  namespace: *v\n"))
	f.Add([]byte(head + "  chart: {repository: r, name: n, version: >-\n      v1}\n  source: documented\n  workloads: []\n"))
	c := change{version: "v2", digest: "d", renders: []model.FootprintRender{{Values: "00", Workloads: []model.RenderedWorkload{{Kind: job, Name: "j", Replicas: 1}}}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := withLock("a.yaml", data, c)
		if err != nil {
			return
		}
		if strings.Count(string(out), "\n  renders:") > 1 {
			t.Fatalf("two locks:\n%s", out)
		}
		again, err := withLock("a.yaml", out, c)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("a second time: %v\n%s\n--- then\n%s", err, out, again)
		}
	})
}
