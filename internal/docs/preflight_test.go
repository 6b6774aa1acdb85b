package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	// preflightRow is a row of the table that accept --preflight prints: check, target, result, observed.
	preflightRow = regexp.MustCompile(`^  \S.*?\s{2,}\S.*?\s{2,}(?:ok|unobserved|WOULD STOP)\s{2,}(.+)$`)
	remedyRow    = regexp.MustCompile(`^\s+remedy: (.+)$`)
	// preflightHeader is the table's first line.
	preflightHeader = regexp.MustCompile(`^  CHECK +TARGET +RESULT +OBSERVED$`)
	// formatVerb is a verb of package fmt.
	formatVerb = regexp.MustCompile(`%[-+# 0]*(?:\[\d+\])?\d*(?:\.\d+)?[a-zA-Z]`)
)

// leastLetters are the letters of a format without its verbs: a format with fewer, such as "%s: %v", matches any text.
const leastLetters = 6

// printedFormats are the formats of the string literals in files of Go, as expressions for whole texts.
func printedFormats(literals string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for format := range strings.SplitSeq(literals, "\n") {
		letters := 0
		for _, r := range formatVerb.ReplaceAllString(format, "") {
			if unicode.IsLetter(r) {
				letters++
			}
		}
		if letters < leastLetters {
			continue
		}
		parts := formatVerb.Split(format, -1)
		for i, part := range parts {
			parts[i] = regexp.QuoteMeta(strings.ReplaceAll(part, "%%", "%"))
		}
		out = append(out, regexp.MustCompile("^"+strings.Join(parts, ".*")+"$"))
	}
	return out
}

// unknownRows are the observations and remedies in a table of a preflight that no format prints, and the number of all.
func unknownRows(table []string, formats []*regexp.Regexp) (unknown []string, all int) {
	for _, line := range table {
		m := preflightRow.FindStringSubmatch(line)
		if m == nil {
			m = remedyRow.FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		all++
		if !slices.ContainsFunc(formats, func(f *regexp.Regexp) bool { return f.MatchString(m[1]) }) {
			unknown = append(unknown, m[1])
		}
	}
	return unknown, all
}

// TestPreflightRows: the observations and remedies in the tables of a preflight on the pages are texts of the preflight
// and of the gates.
func TestPreflightRows(t *testing.T) {
	t.Parallel()
	var texts strings.Builder
	for _, dir := range []string{"preflight", "gate"} {
		err := filepath.WalkDir(filepath.Join(root, "internal", dir), func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
				texts.WriteString(literals(t, read(t, name)))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	formats := printedFormats(texts.String())
	for name, least := range map[string]int{"preflight.md": 14, "first-hour.md": 6} {
		rows := 0
		for _, b := range blocks(read(t, filepath.Join(root, "docs", name))) {
			if !slices.ContainsFunc(b.lines, preflightHeader.MatchString) {
				continue
			}
			unknown, all := unknownRows(b.lines, formats)
			rows += all
			for _, text := range unknown {
				t.Errorf("docs/%s: the preflight does not print %q", name, text)
			}
		}
		if rows < least {
			t.Errorf("docs/%s: only %d rows found", name, rows)
		}
	}
}

func TestUnknownPreflightRowIsFound(t *testing.T) {
	t.Parallel()
	formats := printedFormats("on all %d nodes\n%s: %v\nadd the receiver, or correct %[1]s\nmore than 5%% of %.1f GPUs\n")
	for line, want := range map[string]string{
		"  image         a:1   ok          on all 4 nodes":              "",
		"  image         a:1   ok          on all nodes":                "on all nodes",
		"  dcgmi         a, b  WOULD STOP  cannot be used: no GPUs":     "cannot be used: no GPUs",
		"                      remedy: add the receiver, or correct it": "",
		"                      remedy: add a route":                     "add a route",
		"  GPUs          all   unobserved  more than 5% of 8.0 GPUs":    "",
	} {
		unknown, all := unknownRows([]string{line}, formats)
		if all != 1 || strings.Join(unknown, "") != want {
			t.Errorf("%q: %q of %d rows, want %q", line, unknown, all, want)
		}
	}
	if _, all := unknownRows([]string{"  CHECK  TARGET  RESULT  OBSERVED", "", "preflight: the run would stop (1 would stop the run)"}, formats); all != 0 {
		t.Errorf("%d rows in the other lines", all)
	}
}
