package corpus

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/golden"
)

//go:embed tools.yaml
var toolsFile []byte

// tool is a row of docs/tools.md.
type tool struct {
	Kind     string
	Tool     string
	Package  string
	Source   string
	Versions []struct {
		Name    string
		Pattern string
		Claimed []string
	}
}

// outcome is what became of one file.
type outcome struct {
	entry
	text    string
	refused error
}

const (
	pagePath = "../../../docs/tools.md"
	begin    = "<!-- measured: begin -->\n"
	end      = "<!-- measured: end -->\n"
)

func tools(t *testing.T) []tool {
	t.Helper()
	var rows []tool
	dec := yaml.NewDecoder(bytes.NewReader(toolsFile))
	dec.KnownFields(true)
	if err := dec.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// comparePage compares the tables of docs/tools.md with what was read and refused.
func comparePage(t *testing.T, outcomes []outcome) {
	t.Helper()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	want, err := measuredPage(string(page), tools(t), outcomes)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, pagePath, want)
}

// measuredPage replaces the part of a page between the marks.
func measuredPage(page string, rows []tool, outcomes []outcome) (string, error) {
	head, rest, found := strings.Cut(page, begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errors.New("the page has no marks of the measured part")
	}
	return head + begin + toolTable(rows, outcomes) + "\n" + refusedTable(outcomes) + end + tail, nil
}

func toolTable(rows []tool, outcomes []outcome) string {
	byKind := map[string][]outcome{}
	for _, o := range outcomes {
		byKind[o.kind] = append(byKind[o.kind], o)
	}
	var b strings.Builder
	b.WriteString("| tool | parser | versions in the corpus | read | refused | unverified | source of the format |\n|---|---|---|---|---|---|---|\n")
	for _, row := range rows {
		files := byKind[row.Kind]
		refused := 0
		for _, o := range files {
			if o.refused != nil {
				refused++
			}
		}
		seen, unverified := row.versions(files)
		if row.Kind == "" {
			seen, unverified = "none", "the whole format"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %d | %s | %s |\n", row.Tool, row.Package, seen, len(files)-refused, refused, unverified, row.Source)
	}
	return b.String()
}

// versions lists the versions that the files print, and those that are claimed and not printed.
func (row tool) versions(files []outcome) (seen, unverified string) {
	var have, lack []string
	for _, v := range row.Versions {
		found := map[string]bool{}
		for _, o := range files {
			for _, m := range regexp.MustCompile(v.Pattern).FindAllStringSubmatch(o.text, -1) {
				found[m[1]] = found[m[1]] || o.refused == nil
			}
		}
		maps.DeleteFunc(found, func(_ string, read bool) bool { return !read })
		if len(found) > 0 {
			have = append(have, v.Name+" "+strings.Join(slices.Sorted(maps.Keys(found)), ", "))
		}
		for _, c := range v.Claimed {
			if !found[c] {
				lack = append(lack, v.Name+" "+c)
			}
		}
	}
	return cmp.Or(strings.Join(have, "; "), "not printed"), strings.Join(lack, ", ")
}

func refusedTable(outcomes []outcome) string {
	var b strings.Builder
	b.WriteString("| refused file | reason |\n|---|---|\n")
	for _, o := range outcomes {
		if o.refused != nil {
			fmt.Fprintf(&b, "| `%s` | %s |\n", o.file, cell(o.refused.Error()))
		}
	}
	return b.String()
}

// quoted is a long quotation of a file, which belongs to others.
var quoted = regexp.MustCompile(`(^| )"(?:[^"\\]|\\.){40,}(?:"|$)`)

// cell is a text as a cell of a table: one line of at most 160 characters, without long quotations.
func cell(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(quoted.ReplaceAllString(text, `$1"…"`)), " "), "|", `\|`)
	if r := []rune(text); len(r) > 160 {
		text = string(r[:157]) + " …"
	}
	return text
}

// Every reader has a row, every row a reader and a package, and the page has its tables also where
// the corpus is missing.
func TestToolsAreComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, row := range tools(t) {
		if row.Kind != "" && readers()[row.Kind] == nil || kinds[row.Kind] && row.Kind != "" {
			t.Errorf("%s: kind %q has no reader or two rows", row.Tool, row.Kind)
		}
		kinds[row.Kind] = true
		if info, err := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(row.Package))); err != nil || !info.IsDir() || row.Source == "" {
			t.Errorf("%s: package %q, source %q: %v", row.Tool, row.Package, row.Source, err)
		}
		if !strings.Contains(string(page), "\n| "+row.Tool+" | `"+row.Package+"` |") {
			t.Errorf("docs/tools.md has no row of %s", row.Tool)
		}
	}
	for kind := range readers() {
		if !kinds[kind] {
			t.Errorf("reader %s has no row in tools.yaml", kind)
		}
	}
}

// The page is compared with what was measured: a file more, a refusal and a version change it.
func TestMeasuredPage(t *testing.T) {
	t.Parallel()
	rows := tools(t)
	one := outcome{entry: entry{file: "sminfo/a.txt", kind: "sminfo"}, text: "x"}
	page := func(outcomes ...outcome) string {
		got, err := measuredPage("# Tools\n"+begin+"old\n"+end+"after\n", rows, outcomes)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	read := page(one)
	if !strings.Contains(read, "| sminfo | `internal/probe/infiniband` | not printed | 1 | 0 |  |") || !strings.HasSuffix(read, end+"after\n") || strings.Contains(read, "old") {
		t.Errorf("%s", read)
	}
	no := one
	no.refused = errors.New("a | b")
	if refused := page(no); refused == read || !strings.Contains(refused, "| `sminfo/a.txt` | a \\| b |") || !strings.Contains(refused, "| not printed | 0 | 1 |") {
		t.Errorf("%s", refused)
	}
	smi := page(outcome{entry: entry{file: "smi-xml/a.xml", kind: "smi"}, text: "nvsmi_device_v13.dtd <driver_version>580.1"})
	if !strings.Contains(smi, "| DTD v13; driver 580 | 1 | 0 | DTD v11, DTD v12 |") {
		t.Errorf("%s", smi)
	}
	if _, err := measuredPage("# Tools\n", rows, nil); err == nil {
		t.Error("a page without marks is accepted")
	}
}
