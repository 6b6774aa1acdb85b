package profile_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/profile"
)

func TestProfilesAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "unknown keys of a block", Head: "gpu:\n", Again: "  a{n}: 1\n"},
		growth.Text{Name: "Xids", Head: "node:\n  xids:\n    reset:\n", Again: "    - 1\n"},
		growth.Text{Name: "classes of Xids", Head: "node:\n  xids:\n", Again: "    a{n}: [1]\n"},
		growth.Text{Name: "limits", Head: "gpu:\n  nvlinkErrorLimits:\n", Again: "    a{n}: {value: 0, unit: errors, source: b}\n"},
		growth.Text{Name: "diagnostics", Head: "node:\n  requiredDiagnostics:\n", Again: "    a{n}: [b]\n"},
		growth.Text{Name: "governors", Head: "node:\n  cpuGovernors:\n", Again: "  - a\n"},
	)
	growth.Linear(t, "a profile", func(b []byte) { _, _ = profile.Parse("a", b) }, texts...)
}
