package cli

import (
	"encoding/json"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// A module has the digest of the build information, or the directory that replaces it.
func TestModulesHaveTheirDigests(t *testing.T) {
	t.Parallel()
	info, err := debug.ParseBuildInfo("path\texample.com/m/cmd\nmod\texample.com/m\t(devel)\t\n" +
		"dep\texample.com/a\tv1.2.3\th1:YQ==\ndep\texample.com/b\tv0.1.0\n=>\t./replacements/b\t(devel)\t\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []linkedModule{
		{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:YQ=="},
		{Path: "example.com/b", Version: "v0.1.0", ReplacedBy: "./replacements/b"},
	}
	if diff := cmp.Diff(want, linkedModules(info)); diff != "" {
		t.Error(diff)
	}
	if got := linkedModules(nil); got == nil || len(got) != 0 {
		t.Errorf("without build information: %v, want an empty list", got)
	}
}

func TestVersionAsJSON(t *testing.T) {
	t.Parallel()
	out, errs, code := run(t, "version", "-o", "json")
	var v versionInfo
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != cmdutil.ExitPassed || len(v.Upstream) == 0 || v.Modules == nil {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
}
