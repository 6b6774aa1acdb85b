package catalog_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestThePageHasTheTable: docs/conformance.md says of every version what the data say.
func TestThePageHasTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\w+) \| (\w+) \| ([MS-]) \| ([MS-]) \| ([MS-]) \| ([MS-]) \|$`)
	var got, want []string
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		got = append(got, strings.Join(append([]string{m[2], m[1]}, m[3:]...), " "))
	}
	for line := range strings.Lines(strings.TrimSpace(wanted)) {
		want = append(want, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
