package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clone is a git repository with a package whose test reads a file and a directory.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n", ".gitignore": "ignored\n", "ignored": "x", "run.sh": "exit 0\n",
		"a/testdata/want": "one\n", "a/a.go": "package a\n",
		"a/a_test.go": `package a

import (
	"os"
	"testing"
)

func TestRead(t *testing.T) {
	list, err := os.ReadDir("testdata")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if got, err := os.ReadFile("testdata/want"); string(got) != "one\n" {
		t.Errorf("%q %v", got, err)
	}
}
`,
	})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// goTest tests the mirror of a clone.
func goTest(t *testing.T, root, dir string) (string, error) {
	t.Helper()
	m, err := openMirror(t.Context(), root, dir)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	defer func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
	cmd.Dir = m.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The result of a test is reused in a second clone, but not if a file that it reads has another
// content of the same size, is gone, or has company.
func TestResultsAreReusedForTheSameContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := goTest(t, clone(t), dir); err != nil {
		t.Fatal(out)
	}
	second := clone(t)
	if out, err := goTest(t, second, dir); err != nil || !strings.Contains(out, "(cached)") {
		t.Errorf("a second clone: %v\n%s", err, out)
	}
	want := filepath.Join(second, "a/testdata/want")
	info, err := os.Stat(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(root string) error{
		"another content": func(root string) error {
			write(t, root, map[string]string{"a/testdata/want": "two\n"})
			return os.Chtimes(filepath.Join(root, "a/testdata/want"), info.ModTime(), info.ModTime())
		},
		"gone": func(root string) error { return os.Remove(filepath.Join(root, "a/testdata/want")) },
		"one more": func(root string) error {
			write(t, root, map[string]string{"a/testdata/more": ""})
			return nil
		},
	} {
		root := clone(t)
		if err := change(root); err != nil {
			t.Fatal(err)
		}
		if out, err := goTest(t, root, dir); err == nil {
			t.Errorf("%s: passes\n%s", name, out)
		}
	}
	if out, err := goTest(t, second, dir); err != nil || !strings.Contains(out, "(cached)") {
		t.Errorf("the first content again: %v\n%s", err, out)
	}
}

func TestMirror(t *testing.T) {
	t.Parallel()
	root, dir := clone(t), t.TempDir()
	m, err := openMirror(t.Context(), root, dir)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	if other, err := openMirror(t.Context(), root, dir); other != nil || err != nil {
		t.Errorf("used twice at a time: %v, %v", other, err)
	}
	if _, err := os.Stat(filepath.Join(m.dir, "ignored")); !os.IsNotExist(err) {
		t.Errorf("an ignored file is copied: %v", err)
	}
	if info, err := os.Stat(filepath.Join(m.dir, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("a script: %v, %v", info, err)
	}
	if err := m.close(); err != nil {
		t.Fatal(err)
	}
	if other, err := openMirror(t.Context(), t.TempDir(), dir); other != nil || err != nil {
		t.Errorf("of a directory without a repository: %v, %v", other, err)
	}
	if a, b := timeOf([]byte("a")), timeOf([]byte("b")); a.Equal(b) || a.Before(epoch) || a.After(epoch.AddDate(18, 0, 0)) || time.Since(a) < time.Hour {
		t.Errorf("%s, %s", a, b)
	}
}
