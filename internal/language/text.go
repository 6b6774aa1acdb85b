package language

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text is one piece of prose of a file: a comment, a string, a paragraph.
type Text struct {
	File string
	// Line is the line of the first line of Content.
	Line    int
	Content string
}

type sentence struct {
	line    int
	content string
}

var sentenceEnd = regexp.MustCompile(`[.!?](\s+|$)`)

// sentences splits at full stops and empty lines. Lines within a sentence are joined.
func (t Text) sentences() []sentence {
	var out []sentence
	line := t.Line
	for paragraph := range strings.SplitSeq(t.Content, "\n\n") {
		joined := strings.ReplaceAll(paragraph, "\n", " ")
		start := 0
		for _, end := range append(sentenceEnd.FindAllStringIndex(joined, -1), []int{len(joined), len(joined)}) {
			if content := strings.TrimSpace(joined[start:end[1]]); content != "" {
				out = append(out, sentence{line + strings.Count(paragraph[:start], "\n"), content})
			}
			start = end[1]
		}
		line += strings.Count(paragraph, "\n") + 2
	}
	return out
}

// Read returns the texts of every file below the roots: Go files, Markdown, YAML, scripts and
// templates. It skips testdata, licences and what .git ignores by name.
func Read(roots ...string) ([]Text, error) {
	var out []Text
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				runs := path == filepath.Join(root, "evidence") // bundles of earlier versions, which make accept leaves
				if runs || slices.Contains([]string{"testdata", ".git", "bin", "node_modules", "language"}, d.Name()) {
					return fs.SkipDir
				}
				return nil
			}
			texts, err := readFile(path)
			out = append(out, texts...)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read texts of %s: %w", root, err)
		}
	}
	return out, nil
}

func readFile(path string) ([]Text, error) {
	var extract func(path, content string) []Text
	switch filepath.Ext(path) {
	case ".go":
		extract = goTexts
	case ".md":
		extract = markdown
	case ".yaml", ".yml":
		extract = yamlTexts
	case ".sh", ".py":
		extract = script
	case ".gohtml", ".tmpl":
		extract = template
	case "": // a script if it begins with #!
	default:
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	switch {
	case extract != nil:
	case strings.HasPrefix(string(raw), "#!"):
		extract = script
	default:
		return nil, nil
	}
	return extract(path, string(raw)), nil
}

// goTexts are the comments and string literals of a Go file. A comment group is one text.
func goTexts(path, content string) []Text {
	fset := token.NewFileSet()
	file := fset.AddFile(path, -1, len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, scanner.ScanComments)
	var out []Text
	last := -2 // line of the last line comment
	for {
		pos, tok, lit := s.Scan()
		line := fset.Position(pos).Line
		switch tok {
		case token.EOF:
			return out
		case token.COMMENT:
			if strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "//nolint") {
				continue
			}
			text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(lit, "/*"), "*/"), "//"))
			if last == line-1 && strings.HasPrefix(lit, "//") {
				out[len(out)-1].Content += "\n" + text
			} else {
				out = append(out, Text{path, line, text})
			}
			last = line
		case token.STRING:
			if text, err := strconv.Unquote(lit); err == nil && strings.Contains(text, " ") {
				out = append(out, Text{path, line, text})
				last = -2
			}
		default:
		}
	}
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// markdown is the prose of a page: code blocks and inline code are left out. Each row of a
// table is a text, its cells are sentences.
func markdown(path, content string) []Text {
	var out []Text
	var kept []string
	fenced := false
	for i, line := range strings.Split(content, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
			line = ""
		case fenced, strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			line = ""
		case strings.HasPrefix(line, "#"): // headings may ask: What it observes
			line = strings.TrimPrefix(strings.TrimLeft(line, "# "), "What ")
		default:
			line = inlineCode.ReplaceAllString(line, "X")
		}
		if strings.HasPrefix(line, "|") {
			out = append(out, Text{path, i + 1, strings.ReplaceAll(strings.Trim(line, "| "), " | ", ". ")})
			line = ""
		}
		kept = append(kept, strings.TrimLeft(line, "-* >"))
	}
	return append(out, Text{path, 1, strings.Join(kept, "\n")})
}

func hashComments(path, content string) []Text {
	var out []Text
	last := -2
	for i, line := range strings.Split(content, "\n") {
		_, comment, ok := strings.Cut(line, "# ")
		if !ok || strings.HasPrefix(line, "#!") {
			continue
		}
		if last == i-1 {
			out[len(out)-1].Content += "\n" + comment
		} else {
			out = append(out, Text{path, i + 1, comment})
		}
		last = i
	}
	return out
}

// script is the comments of a script, and each line of its code, which has its messages.
func script(path, content string) []Text {
	out := hashComments(path, content)
	for i, line := range strings.Split(content, "\n") {
		code, _, _ := strings.Cut(line, "# ")
		if code = strings.TrimSpace(code); code != "" && !strings.HasPrefix(code, "#") {
			out = append(out, Text{path, i + 1, code})
		}
	}
	return out
}

// objects of upstream programs: their values are not our text.
const upstreamObjects = "internal/lab/manifest/"

// yamlTexts is the comments of a YAML file and its values. A file that is YAML only after
// formatting is a template.
func yamlTexts(path, content string) []Text {
	out := hashComments(path, content)
	if strings.Contains(filepath.ToSlash(path), upstreamObjects) {
		return out
	}
	dec := yaml.NewDecoder(strings.NewReader(content))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return template(path, content)
		}
		out = append(out, values(path, &doc)...)
	}
}

func values(path string, n *yaml.Node) []Text {
	var out []Text
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, " ") {
		line := n.Line
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			line++ // after | or >
		}
		out = append(out, Text{path, line, n.Value})
	}
	for _, c := range n.Content {
		out = append(out, values(path, c)...)
	}
	return out
}

var markup = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<[a-z/!][^<>]*>|\{\{.*?\}\}`)

// template is the comments and lines of a template without its actions and tags.
func template(path, content string) []Text {
	return script(path, markup.ReplaceAllStringFunc(content, func(s string) string {
		if strings.HasPrefix(strings.TrimLeft(s, "{- "), "/*") {
			return s // a comment
		}
		return " " + strings.Repeat("\n", strings.Count(s, "\n"))
	}))
}
