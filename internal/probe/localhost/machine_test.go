package localhost_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/localhost"
)

// files are a file system with these files.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range content {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The identity is that of the machine ID, and does not show it.
func TestIdentify(t *testing.T) {
	t.Parallel()
	const first, second = "0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcde0"
	identify := func(id string) localhost.Machine {
		m, err := localhost.Identify(files(t, map[string]string{"etc/machine-id": id + "\n", "sys/class/dmi/id/product_name": "X13\n"}))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, again, b := identify(first), identify(first), identify(second)
	if a != again || a.ID == b.ID || len(a.ID) != 32 || strings.Contains(a.ID, first[:8]) {
		t.Errorf("%+v, %+v, %+v", a, again, b)
	}
	if a.Product != "X13" || a.Vendor != "" || a.Name == "" {
		t.Errorf("%+v", a)
	}
	// openssl dgst -sha256 -mac HMAC -macopt hexkey:0123456789abcdef0123456789abcdef <<<'firstlight.dev/machine' without its newline
	if want := "f89a1159b9f4c4366cc531e15eba4220"; a.ID != want {
		t.Errorf("%s, want %s", a.ID, want)
	}
}

func TestIdentifyRefuses(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]map[string]string{
		"no file": {}, "empty": {"etc/machine-id": ""}, "not initialised": {"etc/machine-id": "uninitialized\n"}, "short": {"etc/machine-id": "0123\n"},
	} {
		if m, err := localhost.Identify(files(t, content)); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
