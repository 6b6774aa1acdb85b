package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

type thing struct {
	Name  string `yaml:"name"`
	Count int    `yaml:"count"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"good", "name: a\ncount: 1", ""},
		{"the largest allowed", "name: a\n#" + strings.Repeat("x", config.MaxFileSize-9), ""},
		{"too large", "name: a\n#" + strings.Repeat("x", config.MaxFileSize-8), "f: error: the file is larger than 1 MiB [unreadable]"},
		{"two documents", "name: a\n---\nname: b", "f:2:1: error: file has more than one document [document]"},
		{"an alias", "name: &a x\ncount: *a", "f:1:7: error: the anchor &a is not allowed here [not-plain]"},
		{"unquoted", "name: 08", "f:1:7: error: must be a string, but YAML reads 08 as the number 08 [unquoted]"},
		{"unknown key", "nam: x", "f:1:1: error: unknown key \"nam\" [unknown-key]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var v thing
			_, problems := config.DecodeYAML("f", []byte(tt.text), &v)
			if got := problems.Error(); (tt.want == "") != (problems.Err() == nil) || !strings.Contains(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, make([]byte, 3*config.MaxFileSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := config.ReadFile(path); err != nil || len(data) != config.MaxFileSize+1 {
		t.Errorf("read %d bytes, %v", len(data), err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := config.ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("reading %s: %v", path, err)
		}
	}
}

func TestUnreadableValuesAreNotReportedAsMissing(t *testing.T) {
	t.Parallel()
	at := diag.Pos{File: "f", Line: 1, Column: 1}
	other := diag.Pos{File: "f", Line: 2, Column: 1}
	missing := diag.List{diag.Missing.At(at, "is missing"), diag.Missing.At(other, "is missing")}
	for _, tt := range []struct {
		rule diag.Rule
		want int
	}{{diag.WrongType, 2}, {diag.UnknownKey, 3}} {
		if got := config.MergeProblems(diag.List{tt.rule.At(at, "x")}, missing); len(got) != tt.want {
			t.Errorf("%s: %d problems, want %d: %v", tt.rule.Name, len(got), tt.want, got)
		}
	}
}
