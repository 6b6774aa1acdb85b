package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	// notInAnchor is what a heading loses on its way to an anchor.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// broken lists the links of p that lead nowhere; exists looks up a file and returns its text.
func broken(p page, exists func(name string) (text string, ok bool)) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(prose(p.text), -1) {
		target := m[1]
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(target, "#")
		text, ok := p.text, true
		if file != "" {
			text, ok = exists(path.Join(path.Dir(p.path), file))
		}
		switch {
		case !ok:
			out = append(out, target+": there is no such file")
		case anchor != "" && !slices.Contains(anchors(text), anchor):
			out = append(out, target+": there is no such heading")
		}
	}
	return out
}

func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(prose(text), -1) {
		plain := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(plain, " ", "-"))
	}
	return out
}

func onDisk(name string) (string, bool) {
	full := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Stat(full)
	if err != nil || info.IsDir() {
		return "", err == nil
	}
	data, err := os.ReadFile(full)
	return string(data), err == nil
}

func TestEveryLinkHasATarget(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, b := range broken(p, onDisk) {
			t.Errorf("%s: link %s", p.path, b)
		}
	}
}

func TestABrokenLinkIsFound(t *testing.T) {
	t.Parallel()
	there := func(name string) (string, bool) { return "# Any Title: it is\n", name == "docs/there.md" }
	for text, want := range map[string]int{
		"[a](there.md)":                      0,
		"[a](there.md#any-title-it-is)":      0,
		"[a](https://example.com/x)":         0,
		"[a](gone.md)":                       1,
		"[a](there.md#another)":              1,
		"[a](#nothing) and [b](../there.md)": 2,
	} {
		if got := broken(page{path: "docs/p.md", text: text}, there); len(got) != want {
			t.Errorf("%s: %d broken links %v, want %d", text, len(got), got, want)
		}
	}
}

func TestEveryGateHasItsPage(t *testing.T) {
	t.Parallel()
	var want []string
	for i, gate := range site.Gates() {
		name := gate + ".md"
		want = append(want, name)
		text := read(t, filepath.Join(root, "docs", "gates", name))
		if title := fmt.Sprintf("# Gate %d: %s\n", i+1, gate); !strings.HasPrefix(text, title) {
			t.Errorf("docs/gates/%s does not begin with %q", name, title)
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "docs", "gates"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("docs/gates/%s is not the page of a gate", e.Name())
		}
	}
}
