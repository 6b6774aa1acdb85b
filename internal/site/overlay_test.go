package site

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The keys of the second file win; blocks are merged, lists replaced, and relative paths are of the
// second file's directory.
func TestLoadOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := filepath.Join(dir, "base.yaml")
	if err := os.WriteFile(base, Example(), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(t *testing.T, text string) (*Site, []byte, error) {
		path := filepath.Join(t.TempDir(), "over.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadOver(base, path)
	}
	whole, err := Load(base)
	if err != nil {
		t.Fatal(err)
	}
	s, merged, err := load(t, `
gpustack: {queue: gangs}
reach: {charts: {"oci://a/b": ./b.tgz}}
prepare:
- {gate: gpustack, helm: {release: a, chart: ./a, version: v1, namespace: a, valuesFiles: [v.yaml]}}
`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != whole.Name || s.GPUStack.Queue != "gangs" || s.GPUStack.Namespace != whole.GPUStack.Namespace || len(s.Prepare) != 1 {
		t.Errorf("merged: %s, %+v, %+v", s.Name, s.GPUStack, s.Prepare)
	}
	h := s.Prepare[0].Helm
	for _, path := range []string{h.Chart, h.ValuesFiles[0], s.Reach.Charts["oci://a/b"]} {
		if !filepath.IsAbs(path) || filepath.Dir(path) == dir {
			t.Errorf("%s is not in the directory of the second file", path)
		}
	}
	if again, err := Parse("merged", merged); err != nil || again.GPUStack.Queue != "gangs" {
		t.Errorf("the merged file is not a site file: %v", err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"unknown key": {"gpustack: {queue: a}\nprepares: []\n", `over.yaml:2: unknown key "prepares"`},
		"invalid":     {"spine: abacus\n", `over.yaml: spine: "abacus"`},
		"empty":       {"# nothing\n", "file has no keys"},
	} {
		_, _, err := load(t, c.text)
		if _, ok := errors.AsType[*InvalidError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestHelmChart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ helm, want string }{
		"directory":             {"chart: ./a", ""},
		"registry":              {"chart: oci://r/a, user: u, passwordFile: p", ""},
		"repository":            {"chart: a, repository: https://r, user: u, passwordFile: p", ""},
		"two sources":           {"chart: oci://r/a, repository: https://r", "has its own source"},
		"no URL":                {"chart: a, repository: r", "is not an http or https URL"},
		"password without user": {"chart: oci://r/a, passwordFile: p", "needs both user and passwordFile"},
		"user of a file":        {"chart: ./a, user: u, passwordFile: p", "is for a repository or registry"},
		"in clear":              {"chart: a, repository: http://r, user: u, passwordFile: p", "sends credentials over plain http"},
		"digest":                {"chart: ./a, digest: 'sha256:" + strings.Repeat("0a", 32) + "'", ""},
		"short digest":          {"chart: ./a, digest: 'sha256:0a'", `invalid digest "sha256:0a"`},
		"misspelt":              {"chart: a, valeus: {}", `unknown key "valeus"`},
	} {
		_, err := Parse("s", append(Example(), []byte("\nprepare: [{gate: gpustack, helm: {release: r, version: v1, namespace: n, "+c.helm+"}}]\n")...))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
