package validate

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/conformance/submission/submissiontest"
	"github.com/firstlight/firstlight/internal/golden"
)

const turbo = `directory: turbo
metadata:
  platformName: Turbo Encabulator
  platformVersion: "1.20"
  vendorName: Yoyodyne
  websiteUrl: https://yoyo.example/turbo
  documentationUrl: https://yoyo.example/turbo/docs
  productLogoUrl: https://yoyo.example/turbo.svg
  description: A platform for all encabulating needs.
  contactEmailAddress: turbo@yoyo.example
  k8sConformanceUrl: https://github.com/cncf/k8s-conformance/tree/master/v1.36/turbo
`

// web answers everything, but for an address that is gone; the CNCF has one member.
type web struct{ gone string }

func (w web) Do(req *http.Request) (*http.Response, error) {
	status := http.StatusOK
	if req.URL.String() == w.gone {
		status = http.StatusNotFound
	}
	body := "landscape: [{name: CNCF Members, subcategories: [{items: [{name: Yoyodyne (member)}]}]}]"
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// submissionRun runs a command line in which @ is dir, and removes dir from the output.
func submissionRun(t *testing.T, dir string, w web, line string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	s := cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	code = cmdutil.Execute(t.Context(), newSubmissionWith(s, w), strings.Fields(strings.ReplaceAll(line, "@", dir)), s)
	clean := func(b bytes.Buffer) string { return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), "") }
	return clean(out), clean(errs), code
}

// recordedRun puts a run and a product file into a directory.
func recordedRun(t *testing.T, o submissiontest.Options) (dir, args string) {
	t.Helper()
	dir = t.TempDir()
	run, err := submissiontest.Write(t.Context(), filepath.Join(dir, "evidence"), "1.36", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "product.yaml"), []byte(turbo), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, "--version 1.36 --product @/product.yaml --out @/out --run " + run
}

func TestSubmission(t *testing.T) {
	t.Parallel()
	simulated := submissiontest.Options{Simulated: true, Without: []string{"ai_inference"}}
	failed := submissiontest.Options{Judgements: map[string]check.Judgement{"gang_scheduling": check.Fail("part of the gang was placed")}}
	for name, tt := range map[string]struct {
		run     submissiontest.Options
		web     web
		flags   string
		code    int
		written bool
		stderr  string
	}{
		"valid.txt":     {code: cmdutil.ExitPassed, written: true},
		"valid.json":    {flags: " -o json", code: cmdutil.ExitPassed, written: true},
		"offline.txt":   {flags: " --offline", code: cmdutil.ExitUnobserved, written: true},
		"gone.txt":      {web: web{gone: "https://yoyo.example/turbo"}, code: cmdutil.ExitFailed, written: true},
		"failed.txt":    {run: failed, code: cmdutil.ExitFailed, written: true},
		"refused":       {run: simulated, code: cmdutil.ExitUnobserved, stderr: "ai_inference is not in the run"},
		"draft.txt":     {run: simulated, flags: " --draft --offline", code: cmdutil.ExitPassed, written: true},
		"draft.json":    {run: simulated, flags: " --draft --offline -o json", code: cmdutil.ExitPassed, written: true},
		"no-version":    {flags: " --version 1.33", code: cmdutil.ExitUsage, stderr: "want one of 1.34, 1.35, 1.36, 1.37"},
		"no-run":        {flags: " --run @/nowhere", code: cmdutil.ExitUsage, stderr: "want the directory of a run"},
		"no-product":    {flags: " --product @/nowhere", code: cmdutil.ExitUsage, stderr: "read the product file"},
		"other-version": {flags: " --version 1.35", code: cmdutil.ExitUnobserved, stderr: "dra_support is not in the run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, args := recordedRun(t, tt.run)
			stdout, stderr, code := submissionRun(t, dir, tt.web, args+tt.flags)
			if code != tt.code || !strings.Contains(stderr, tt.stderr) {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if strings.Contains(name, ".") {
				golden.Compare(t, "testdata/golden/"+name, []byte(stdout))
			}
			if _, err := os.Stat(filepath.Join(dir, "out", "v1.36", "turbo", "PRODUCT.yaml")); (err == nil) != tt.written {
				t.Errorf("written: %v", err)
			}
		})
	}
}

func TestSubmissionCheck(t *testing.T) {
	t.Parallel()
	dir, args := recordedRun(t, submissiontest.Options{})
	if _, stderr, code := submissionRun(t, dir, web{}, args); code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, stderr, code := submissionRun(t, dir, web{}, args); code != cmdutil.ExitUsage || !strings.Contains(stderr, "already exists") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	at := "check @/out/v1.36/turbo"
	for line, want := range map[string]int{
		at: cmdutil.ExitPassed, at + " -o json": cmdutil.ExitPassed, at + " --offline": cmdutil.ExitUnobserved, "check @/nowhere": cmdutil.ExitUsage, "check": cmdutil.ExitUsage, "chekc": cmdutil.ExitUsage,
	} {
		if _, stderr, code := submissionRun(t, dir, web{}, line); code != want {
			t.Errorf("%s exits %d, want %d: %s", line, code, want, stderr)
		}
	}
	if err := os.Remove(filepath.Join(dir, "out", "v1.36", "turbo", "junit.xml")); err != nil {
		t.Fatal(err)
	}
	stdout, _, code := submissionRun(t, dir, web{}, at)
	if code != cmdutil.ExitFailed || strings.Count(stdout, "[evidence-file]") != 14 {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

func TestSubmissionOfARunThatWasChanged(t *testing.T) {
	t.Parallel()
	dir, args := recordedRun(t, submissiontest.Options{})
	runs, err := filepath.Glob(filepath.Join(dir, "evidence", "*", "verdicts.json"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	if err := os.WriteFile(runs[0], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := submissionRun(t, dir, web{}, args+" --draft"); code != cmdutil.ExitFailed || !strings.Contains(stderr, "verdicts.json") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestSubmissionOfAnEmptyProductFile(t *testing.T) {
	t.Parallel()
	dir, args := recordedRun(t, submissiontest.Options{})
	if err := os.WriteFile(filepath.Join(dir, "product.yaml"), []byte("directory: turbo\nmetadata: {platformName: \"[Platform Name]\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := submissionRun(t, dir, web{}, args)
	if code != cmdutil.ExitUsage || strings.Count(stderr, "[metadata-missing]") != 8 || !strings.Contains(stderr, "[placeholder]") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
