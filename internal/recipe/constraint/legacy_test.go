package constraint_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// measured is a snapshot in which K8s.server.version is a text.
func measured(t *testing.T, version string) *constraint.Snapshot {
	t.Helper()
	s, err := constraint.ParseSnapshot("snapshot.yaml", []byte("kind: Snapshot\napiVersion: aicr.run/v1beta1\nmeasurements:\n"+
		"  - {type: K8s, subtypes: [{subtype: server, data: {version: \""+version+"\"}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A measurement that is less precise than the constraint is unobserved: 1.32 may be 1.32.9 or
// 1.32.0. In aicr, >= passes and == fails.
func TestALessPreciseMeasurementIsUnobserved(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		expression, actual string
		want, legacy       check.Verdict
	}{
		{"== 1.32.4", "1.32", check.Unobserved, check.Failed},
		{"== 1.32.0", "1.32", check.Unobserved, check.Passed},
		{"!= 1.32.4", "1.32", check.Unobserved, check.Passed},
		{">= 1.32.4", "1.32", check.Unobserved, check.Passed},
		{"<= 1.32.4", "v1", check.Unobserved, check.Passed},
		{"> 1.32.4", "1.32", check.Unobserved, check.Failed},
		{"< 1.32.4", "1.32", check.Unobserved, check.Failed},
		{">= 1.32.4", "1.33", check.Passed, check.Passed},
		{">= 1.32.4", "1.31", check.Failed, check.Failed},
		{"== 1.32.4", "1.31", check.Failed, check.Failed},
		{"!= 1.32.4", "1.31", check.Passed, check.Passed},
		{">= 1.33 || == 1.32.4", "1.32", check.Unobserved, check.Unobserved},
		{"== 1.32.4 || >= 1.32", "1.32", check.Passed, check.Failed},
		{">= 1.32.4 < 1.30", "1.32", check.Failed, check.Unobserved},
		{"== 1.32", "1.32.4", check.Passed, check.Failed},
		{">= 1.32", "1.32.4", check.Passed, check.Passed},
		{">= 1.34.3-gke.1318000", "1.34.3-gke.9", check.Failed, check.Passed},
		{">= 1.32", "1.32.4.5", check.Passed, check.Unobserved},
		{"=> 1.2", "1.3", check.Unobserved, check.Failed},
		{"ubuntu", "ubuntu", check.Passed, check.Passed},
		{"== 8", "08", check.Failed, check.Failed},
	} {
		t.Run(tt.expression+" on "+tt.actual, func(t *testing.T) {
			t.Parallel()
			c, s := model.Constraint{Name: "K8s.server.version", Value: tt.expression}, measured(t, tt.actual)
			if got := constraint.Judge(c, s); got.Verdict != tt.want {
				t.Errorf("%s, %s; want %s", got.Verdict, got.Reason, tt.want)
			}
			if got := constraint.JudgeLegacy(c, s); got.Verdict != tt.legacy {
				t.Errorf("as aicr judges: %s, %s; want %s", got.Verdict, got.Reason, tt.legacy)
			}
		})
	}
}
