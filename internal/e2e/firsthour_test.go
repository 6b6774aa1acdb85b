package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/suite"
)

// TestFirstHour compares the outputs on docs/first-hour.md and docs/preflight.md that a lab prints with what the program
// prints now: rows of tables and the lines of a failure, without figures, spacing and what the page or
// the terminal cuts off.
func TestFirstHour(t *testing.T) {
	suite.Require(t, suite.All)
	sharedLab(t)
	pageOf := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := pageOf("first-hour.md")
	compare := func(page, section, printed string) {
		t.Helper()
		got := strings.Split(printed, "\n")
		for i, line := range got {
			got[i] = plainLine(line)
		}
		for _, line := range blockAfter(t, page, section) {
			want := plainLine(line)
			if want == "..." {
				continue // lines that the page leaves out
			}
			if !slices.ContainsFunc(got, func(l string) bool {
				return want == l || strings.HasPrefix(l, want) || strings.HasPrefix(want, l) && len(l) > 40
			}) {
				t.Errorf("%s: %q is not printed:\n%s", section, want, strings.Join(got, "\n"))
			}
		}
	}
	run := func(code int, args ...string) string {
		t.Helper()
		r := program.Run(t.Context(), append(args, "--lab", labName)...)
		if r.Code != code {
			t.Errorf("%v exited %d, want %d: %s", args, r.Code, code, r.Stderr)
		}
		return r.Stdout
	}
	compare(page, "On the lab, with the limits that it lowers:", run(0, "accept", "--fresh", "--evidence", t.TempDir()))
	program.Must(t, "lab", "fault", "add", "link-degraded", "gpu-02/mlx5_3", "--name", labName)
	defer program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	compare(page, "One link at half its rate:", run(1, "accept", "--fresh", "--evidence", t.TempDir()))
	program.Must(t, "lab", "fault", "clear", "--all", "--name", labName)
	program.Must(t, "lab", "fault", "add", "hostengine-down", "gpu-03", "--name", labName)
	site := filepath.Join(t.TempDir(), "site.yaml")
	text := program.Must(t, "lab", "site", "--name", labName).Stdout
	if err := os.WriteFile(site, []byte(strings.Replace(text, "receiver: on-call", "receiver: pager", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := strings.TrimSpace(program.Must(t, "lab", "kubeconfig", "--path", "--name", labName).Stdout)
	r := program.Run(t.Context(), "accept", "--preflight", "--site", site, "--kubeconfig", kubeconfig)
	compare(page, "Two obstacles on a lab, shortened:", r.Stdout)
	compare(pageOf("preflight.md"), "On a lab with two obstacles, shortened:", strings.Replace(r.Stdout, "site "+labName, "site lab", 1))
	compare(page, "For the nodes of a lab, shortened:", program.Must(t, "site", "detect", "--kubeconfig", kubeconfig).Stdout)
}

var (
	number = regexp.MustCompile(`[0-9]+([.:][0-9]+)*`)
	spaces = regexp.MustCompile(`\s+`)
)

// plainLine is a line with one space between words, # for each number, up to where it is cut off.
func plainLine(line string) string {
	line, _, _ = strings.Cut(line, "…")
	return strings.TrimSpace(number.ReplaceAllString(spaces.ReplaceAllString(line, " "), "#"))
}

// blockAfter are the lines of the first block of output after a line of the page.
func blockAfter(t *testing.T, page, section string) []string {
	t.Helper()
	_, rest, found := strings.Cut(page, section)
	_, rest, begun := strings.Cut(rest, "\n```\n")
	block, _, ended := strings.Cut(rest, "\n```")
	if !found || !begun || !ended {
		t.Fatalf("the page has no output after %q", section)
	}
	var out []string
	for line := range strings.SplitSeq(block, "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}
