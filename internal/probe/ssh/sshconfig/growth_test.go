package sshconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/probe/ssh/sshconfig"
)

func TestConfigurationsAreReadInLinearTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	growth.Linear(t, "an SSH configuration", func(b []byte) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := sshconfig.Load(file); err == nil {
			_, _ = c.Host("gpu-01", "a", "22")
		}
	},
		growth.Text{Name: "hosts", Again: "Host a{n}\n  User b\n"},
		growth.Text{Name: "patterns", Head: "Host a", Again: " a*{n}"},
		growth.Text{Name: "stars", Head: "Host ", Again: "*", Tail: "b\n  User a\n"},
		growth.Text{Name: "stars and letters", Head: "Host ", Again: "*g", Tail: "b\n  User a\n"},
		growth.Text{Name: "options", Head: "Host *\n", Again: "  User a\n"},
		growth.Text{Name: "unknown options", Head: "Host *\n", Again: "  Option{n} a\n"},
		growth.Text{Name: "arguments", Head: "Host *\n  ProxyJump a", Again: ",b{n}"},
		growth.Text{Name: "quotes", Head: "Host *\n  User ", Again: `"`},
		growth.Text{Name: "comments", Again: "# a\n"},
		growth.Text{Name: "matches", Again: "Match all\n"},
		growth.Text{Name: "blanks", Again: " "},
		growth.Text{Name: "lines", Again: "\n"},
		growth.Text{Name: "variables", Head: "Host *\n  IdentityFile ", Again: "${HOME}"},
		growth.Text{Name: "tokens", Head: "Host *\n  IdentityFile ", Again: "%h"},
	)
}
