package submission

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestLandscapesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "members", Head: "landscape:\n- name: CNCF Members\n  subcategories:\n  - items:\n", Again: "    - {name: a{n} (member)}\n"},
	)
	growth.Linear(t, "a landscape", func(b []byte) { _, _ = membersIn(b) }, texts...)
}
