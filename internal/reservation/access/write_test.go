package access

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not there yet")
	path := filepath.Join(dir, "gcp-h100.kubeconfig")
	for _, text := range []string{"apiVersion: v1\n", "apiVersion: v2\n"} { // and again over it
		a, err := Access{Config: []byte(text)}.Write(path)
		if err != nil || a.Kubeconfig != path {
			t.Fatalf("%v, written to %s", err, a.Kubeconfig)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != fileHeader+text {
			t.Errorf("%v: %s", err, got)
		}
	}
	for name, want := range map[string]os.FileMode{path: 0o600, dir: 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, %v", name, info.Mode(), err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left in the same directory: %v %v", list, err)
	}

	theirs := filepath.Join(dir, "config")
	if err := os.WriteFile(theirs, []byte("apiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Access{Config: []byte("x")}).Write(theirs); !errors.Is(err, ErrForeignFile) {
		t.Errorf("another's kubeconfig: %v", err)
	}
	if got, err := os.ReadFile(theirs); err != nil || string(got) != "apiVersion: v1\n" {
		t.Errorf("it was written over: %s %v", got, err)
	}
	if _, err := (Access{}).Write(dir); err == nil {
		t.Error("a directory was written over")
	}
}
