package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`|\"([^\"]+)\"")
	// variable is a part of a message that differs from case to case, and what joins two messages.
	variable = regexp.MustCompile(`\.\.\.|\b[A-Z]{2,}\b|\b\d\w*|: `)
)

// messages are the constant parts of the messages in the tables of a page that begin with
// the column "message". One word alone is not a message.
func messages(text string) []string {
	var out []string
	inTable := false
	for line := range strings.SplitSeq(text, "\n") {
		inTable = strings.HasPrefix(line, "| message |") || inTable && strings.HasPrefix(line, "|")
		if !inTable || strings.HasPrefix(line, "| message |") {
			continue
		}
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			for _, part := range variable.Split(m[1]+m[2], -1) {
				if part = strings.TrimSpace(part); strings.Contains(part, " ") {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

// sources are the texts of all programs of this repository that print messages, without comments.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range []string{"internal", "examples/hooks"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d os.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go"):
			case filepath.Ext(name) == ".go":
				all.WriteString(literals(t, read(t, name)))
			case dir != "internal" && filepath.Ext(name) == "":
				all.WriteString(scriptComment.ReplaceAllString(read(t, name), ""))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// scriptComment is a line of a shell script that is a comment.
var scriptComment = regexp.MustCompile(`(?m)^\s*#.*$`)

// literals are the string literals of a Go file, each on its own line. Those that + joins are one.
func literals(t *testing.T, code string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var joined func(e ast.Expr) string
	joined = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
				return s
			}
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				return joined(e.X) + joined(e.Y)
			}
		}
		return "\n"
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch e := n.(type) {
		case *ast.BasicLit:
			out.WriteString(joined(e) + "\n")
		case *ast.BinaryExpr:
			out.WriteString(joined(e) + "\n")
		}
		return true
	})
	return out.String()
}

func TestCommentIsNoMessage(t *testing.T) {
	t.Parallel()
	got := literals(t, "package p\n// the disk is full\nvar a = f(\"node is \" + \"lost\", `no \"route\"`, x + \"from\" + y + \"to\")")
	for text, want := range map[string]bool{"the disk is full": false, "node is lost": true, `no "route"`: true, "fromto": false, "from": true} {
		if strings.Contains(got, text) != want {
			t.Errorf("%q is in the texts: %t, want %t: %q", text, !want, want, got)
		}
	}
}

func TestMessagesOfThePagesExist(t *testing.T) {
	t.Parallel()
	programs, seen := sources(t), 0
	for _, p := range pages(t) {
		for _, m := range messages(p.text) {
			seen++
			if !strings.Contains(programs, m) {
				t.Errorf("%s: no program prints %q", p.path, m)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d messages were found in the pages: the search is broken", seen)
	}
}
