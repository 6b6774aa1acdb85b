package recipes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/e2e/binary"
)

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, nil) }

// report is the -o json object of recipe test.
type report struct {
	Verdict string
	Reason  string
	Tier    int
	Pods    int
	Covered int
	Recipes []struct {
		Recipe, Verdict, Reason, Fingerprint string
		Pods, Nodes, Controls                int
		StandsFor                            []string
		Findings                             []struct{ Suspect, Message, Remedy string }
	}
	Evidence []string
}

// schedule runs recipe test; its exit code has to be as wanted.
func schedule(t *testing.T, code int, args ...string) report {
	t.Helper()
	args = append([]string{"recipe", "test", "-o", "json", "--evidence", filepath.Join(t.TempDir(), "evidence")}, args...)
	r := program.Run(t.Context(), args...)
	if r.Code != code {
		t.Fatalf("firstlight %s exited %d, want %d:\n%s%s", strings.Join(args, " "), r.Code, code, r.Stdout, r.Stderr)
	}
	var out report
	if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil {
		t.Fatalf("the report is not JSON: %v\n%s%s", err, r.Stdout, r.Stderr)
	}
	return out
}

// ourTree is a copy of our recipes that can be written to.
func ourTree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "recipes")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "recipes"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit replaces what a file has exactly once.
func edit(t *testing.T, file, from, to string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), from); n != 1 {
		t.Fatalf("%s has %q %d times", file, from, n)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}
