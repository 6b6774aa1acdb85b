package docs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
)

// profileRow is a row of the table of GPUs: the name, the node, the fabrics.
var profileRow = regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| [0-9] x [^|]+ \\|([^|]*)\\|$")

// TestProfilesPage: the page lists the profiles that ship, each of them and no other.
func TestProfilesPage(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, row := range profileRow.FindAllStringSubmatch(read(t, root+"/docs/profiles.md"), -1) {
		listed = append(listed, row[1])
		for _, fabric := range strings.FieldsFunc(row[2], func(r rune) bool { return r == ' ' || r == ',' || r == '`' }) {
			listed = append(listed, row[1]+"-"+fabric)
		}
	}
	slices.Sort(listed)
	if want := profile.Names(); !slices.Equal(listed, want) {
		t.Errorf("the page lists %v, firstlight ships %v", listed, want)
	}
}
