package site

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func TestInitAndCheck(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site.yaml")
	if _, stderr, code := clitest.Run(t, New, "site", "init", file); code != cmdutil.ExitPassed {
		t.Fatalf("site init exits %d: %s", code, stderr)
	}
	if out, stderr, code := clitest.Run(t, New, "site", "check", file); code != cmdutil.ExitPassed || !strings.Contains(out, "is valid: 4 GPU nodes") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if _, _, code := clitest.Run(t, New, "site", "init", file); code != cmdutil.ExitUsage {
		t.Errorf("init of an existing file exits %d", code)
	}
}
