package certificate_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestTermsAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "figures", Head: "figures:\n", Again: "- {figure: a{n}}\n"},
		growth.Text{Name: "figures of one name", Head: "figures:\n", Again: "- {figure: a, atLeast: 1}\n"},
	)
	growth.Linear(t, "terms", func(b []byte) { _, _ = certificate.ParseTerms("a", b) }, texts...)
}
