package language

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every pattern finds its examples, and leaves plain text alone.
func TestPatterns(t *testing.T) {
	t.Parallel()
	patterns, err := Patterns()
	if err != nil || len(patterns) == 0 {
		t.Fatalf("%d patterns, %v", len(patterns), err)
	}
	for _, p := range patterns {
		for _, e := range p.Examples {
			if p.find(e) == "" {
				t.Errorf("%s: does not match its example %q", p.Name, e)
			}
		}
		for _, e := range p.Plain {
			if found := p.find(e); found != "" {
				t.Errorf("%s: matches %q in plain text %q", p.Name, found, e)
			}
		}
	}
}

// Texts of each kind of file are read, with the lines where they are.
func TestTexts(t *testing.T) {
	t.Parallel()
	patterns, err := Patterns()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		texts []Text
		lines []int
	}{
		"comment over two lines": {goTexts("a.go", "package a\n\n// A file,\n// nobody reads it.\nvar A = 1\n"), []int{3}},
		"string":                 {goTexts("a.go", "package a\n\nvar A = \"it can't be\"\n"), []int{3}},
		"raw string":             {goTexts("a.go", "package a\n\nvar A = `x\n\nit can't be`\n"), []int{5}},
		"identifier":             {goTexts("a.go", "package a\n\nvar nobody = 1\n"), nil},
		"prose":                  {markdown("a.md", "# A\n\nFirst line.\nIt is read by nobody.\n"), []int{4}},
		"fenced code":            {markdown("a.md", "```\nnobody\n```\n\n    nobody\n\nThe word `nobody`.\n"), nil},
		"table":                  {markdown("a.md", "| a | b |\n|---|---|\n| one | read by nobody |\n"), []int{3}},
		"comment of YAML":        {yamlTexts("a.yaml", "a: 1 # read by nobody\nb: nobody\n"), []int{1}},
		"value of YAML":          {yamlTexts("a.yaml", "a: 1\nb: {source: read by nobody}\n"), []int{2}},
		"block of YAML":          {yamlTexts("a.yaml", "a: |\n  one\n\n  read by nobody\n"), []int{4}},
		"second document":        {yamlTexts("a.yaml", "a: 1\n---\nb: read by nobody\n"), []int{3}},
		"objects of others":      {yamlTexts("internal/lab/manifest/kai/a.yaml", "a: read by nobody\n"), nil},
		"template of YAML":       {yamlTexts("a.yaml", "a: %s\nb: read by nobody\n"), []int{2}},
		"message of a script":    {script("a", "#!/bin/sh\nfail \"$name stands here\"\n"), []int{2}},
		"comment of a script":    {script("a.sh", "#!/bin/sh\n# It is read by\n# nobody.\n"), []int{2}},
		"code of Python":         {script("a.py", "if a is None:\n    pass\n"), nil},
		"template":               {template("a.gohtml", "<p class=\"nobody\">{{.Nobody}}\nread by <b>nobody</b></p>\n"), []int{2}},
		"comment of a template":  {template("a.tmpl", "{{- /* read by nobody */ -}}\n"), []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines []int
			for _, m := range Check(patterns, tt.texts) {
				lines = append(lines, m.Line)
			}
			if len(lines) != len(tt.lines) || len(lines) > 0 && lines[0] != tt.lines[0] {
				t.Errorf("matches in lines %v, want %v", lines, tt.lines)
			}
		})
	}
}

// A file of each kind is read, by its name or its first line.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.go": "// read by nobody\n", "a.md": "read by nobody\n", "a.yaml": "a: read by nobody\n", "a.yml": "# read by nobody\n",
		"a.sh": "log read by nobody\n", "a.py": "# read by nobody\n", "a.gohtml": "read by nobody\n", "a.tmpl": "read by nobody\n",
		"hook": "#!/bin/sh\n# read by nobody\n", "LICENSE": "read by nobody\n", "a.json": "read by nobody\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	patterns, err := Patterns()
	if err != nil {
		t.Fatal(err)
	}
	texts, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range Check(patterns, texts) {
		got = append(got, filepath.Base(m.File))
	}
	slices.Sort(got)
	want := []string{"a.go", "a.gohtml", "a.md", "a.py", "a.sh", "a.tmpl", "a.yaml", "a.yml", "hook"}
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("matches in %v, want %v", got, want)
	}
}

// The whole tree is free of the patterns. A file of data needs one, or its row is stale.
func TestTree(t *testing.T) {
	t.Parallel()
	patterns, err := Patterns()
	if err != nil {
		t.Fatal(err)
	}
	file, err := load()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	texts, err := Read(root)
	if err != nil || len(texts) < 10000 {
		t.Fatalf("%d texts, %v", len(texts), err)
	}
	needed := map[string]bool{}
	for _, m := range Check(patterns, texts) {
		name, err := filepath.Rel(root, m.File)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		if slices.ContainsFunc(file.Data, func(d Data) bool { return d.File == name && d.Reason != "" }) {
			needed[name] = true
			continue
		}
		t.Errorf("%s", m)
	}
	for _, d := range file.Data {
		if !needed[d.File] {
			t.Errorf("patterns.yaml: data: %s has no match: remove its row", d.File)
		}
	}
}
